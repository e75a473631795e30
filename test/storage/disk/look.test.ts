import { lstat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { knownWhole, look, settle, statAt, visibleStat, whileAppending } from "../../../src/storage/disk/look.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { lookedAt } from "../content.ts";

describe("what readers are to know of a file", () => {
  it("is found once for each version", async () => {
    const file = join(await temporaryDirectory({ "a.txt": "old" }), "a.txt");
    const disk = lookedAt(dirname(file));
    const stat = await look(disk, "/a.txt", statAt);
    expect(knownWhole(file)?.stat.version).toBe(stat?.version);
    let looks = 0;
    const again = () => {
      looks += 1;
      return lstat(file, { bigint: true });
    };
    const now = await again();
    expect({ ...(await look(disk, "/a.txt", (...place) => visibleStat(...place, now, again))) }).toEqual({ ...stat });
    expect(looks).toBe(1);
  });

  it("is not that of a former file with its inode number which is to be appended to", async () => {
    const file = join(await temporaryDirectory({ "a.txt": "new" }), "a.txt");
    const former = settle("/elsewhere", { ...(await lstat(file, { bigint: true })), size: 99n });
    const found = await whileAppending(file, former, () => look(lookedAt(dirname(file)), "/a.txt", statAt));
    expect(found?.size).toBe(3);
  });

  it("is its record at last where another program writes to it all the time", async () => {
    const file = join(await temporaryDirectory(), "a.txt");
    let written = "";
    const again = async () => {
      written += "x";
      await writeFile(file, written);
      return lstat(file, { bigint: true });
    };
    const now = await again();
    const stat = await look(lookedAt(dirname(file)), "/a.txt", (...place) => visibleStat(...place, now, again));
    expect(stat?.size).toBe(written.length);
    expect(knownWhole(file)?.stat.version).not.toBe(stat?.version);
  });
});
