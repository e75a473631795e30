import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storedStat, uniqueMoment } from "../../../src/storage/disk/file-version.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("a version", () => {
  it("can stand in an entity tag, and does not tell the inode number", async () => {
    const file = join(await temporaryDirectory(), "a.txt");
    await writeFile(file, "a");
    const stats = await stat(file, { bigint: true });
    const { version } = storedStat(stats);
    expect(version).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(version).not.toContain(String(stats.ino));
  });
});

describe("a unique moment", () => {
  it("is later than every one before, by what file systems can tell apart", () => {
    const moments = Array.from({ length: 10_000 }, uniqueMoment);
    const microseconds = moments.map((moment) => Math.round(moment * 1e6));
    expect(new Set(microseconds).size).toBe(10_000);
    expect(microseconds).toEqual([...microseconds].sort((a, b) => a - b));
  });

  it("is the present", () => {
    const before = Date.now() / 1000;
    const moment = uniqueMoment();
    expect(moment).toBeGreaterThanOrEqual(before);
    expect(moment).toBeLessThan(Date.now() / 1000 + 1);
  });
});
