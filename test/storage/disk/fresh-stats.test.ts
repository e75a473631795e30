import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FreshStats } from "../../../src/storage/disk/fresh-stats.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("a fresh look", () => {
  it("is one for all who come while another is under way, and not that one", async () => {
    const location = join(await temporaryDirectory(), "a.txt");
    await writeFile(location, "a");
    const stats = new FreshStats();
    const [first, second, third] = [stats.of(location), stats.of(location), stats.of(location)];
    expect(third).toBe(second);
    expect(second).not.toBe(first);
    expect((await Promise.all([first, second])).map((record) => record?.size)).toEqual([1n, 1n]);
  });

  it("sees every change that was made before it was asked for", async () => {
    const location = join(await temporaryDirectory(), "a.txt");
    const stats = new FreshStats();
    for (let length = 1; length <= 50; length += 1) {
      const early = [stats.of(location), stats.of(location)];
      await writeFile(location, "a".repeat(length));
      expect((await stats.of(location))?.size).toBe(BigInt(length));
      await Promise.all(early);
    }
  });

  it("finds nothing where nothing is", async () => {
    const stats = new FreshStats();
    const location = join(await temporaryDirectory(), "none");
    expect(await Promise.all([stats.of(location), stats.of(location)])).toEqual([undefined, undefined]);
  });
});
