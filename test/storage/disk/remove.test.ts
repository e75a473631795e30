import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { slowContent } from "../content.ts";

describe("a removal on the disk", () => {
  it("shows the check the file that a link leads to", async () => {
    const root = await temporaryDirectory({ "a.txt": "12345" });
    await symlink("a.txt", join(root, "link.txt"));
    const sizes: Array<number | undefined> = [];
    await diskStorage(root).remove("/link.txt", { check: (current) => void sizes.push(current?.size) });
    expect(sizes).toEqual([5]);
  });

  it("refuses a directory in which an upload is under way", async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, "dir"));
    const storage = diskStorage(root);
    const { slow, hasBegun, finish } = slowContent(Buffer.alloc(100_000)); // more than is held in memory
    const writing = storage.write("/dir/a.txt", slow);
    await hasBegun;
    await expect(storage.remove("/dir/")).rejects.toMatchObject({ code: "not-empty" });
    finish();
    await writing;
    expect(await readdir(join(root, "dir"))).toEqual(["a.txt"]);
  });
});
