import { lstat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isSettled, statAt, visibleStat } from "../../../src/storage/disk/visible-stat.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("what readers are to know of a file", () => {
  it("is found once for each version", async () => {
    const file = join(await temporaryDirectory(), "a.txt");
    await writeFile(file, "old");
    const stat = await statAt(file);
    expect(stat && isSettled(file, stat)).toBe(true);
    let looks = 0;
    const again = () => {
      looks += 1;
      return lstat(file, { bigint: true });
    };
    expect({ ...(await visibleStat(file, await again(), again)) }).toEqual({ ...stat });
    expect(looks).toBe(1);
  });

  it("is its record at last where another program writes to it all the time", async () => {
    const file = join(await temporaryDirectory(), "a.txt");
    let written = "";
    const again = async () => {
      written += "x";
      await writeFile(file, written);
      return lstat(file, { bigint: true });
    };
    const stat = await visibleStat(file, await again(), again);
    expect(stat.size).toBe(written.length);
    expect(isSettled(file, stat)).toBe(false);
  });
});
