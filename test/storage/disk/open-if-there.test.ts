import { execFileSync } from "node:child_process";
import { constants, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openIfThere } from "../../../src/storage/disk/open-if-there.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

describe("a file that is opened if it is there", () => {
  it("can be read, or written as well", async () => {
    const file = join(await temporaryDirectory(), "a.txt");
    await writeFile(file, "old");
    const reading = await openIfThere(file);
    expect(await reading?.readFile("utf8")).toBe("old");
    await expect(reading?.write("x")).rejects.toThrow("EBADF");
    const writing = await openIfThere(file, constants.O_RDWR);
    await writing?.write("new");
    await Promise.all([reading?.close(), writing?.close()]);
    expect(await readFile(file, "utf8")).toBe("new");
  });

  it("is none where there is nothing, or a link", async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, "a.txt"), "");
    await symlink("a.txt", join(root, "link.txt"));
    expect(await openIfThere(join(root, "no.txt"))).toBeUndefined();
    expect(await openIfThere(join(root, "a.txt", "b.txt"))).toBeUndefined();
    expect(await openIfThere(join(root, "link.txt"))).toBeUndefined();
  });

  it("does not keep anyone waiting where it is a FIFO", { tags: ["mkfifo"] }, async () => {
    const fifo = join(await temporaryDirectory(), "fifo");
    execFileSync("mkfifo", [fifo]);
    const handle = await openIfThere(fifo);
    expect((await handle?.stat())?.isFIFO()).toBe(true);
    await handle?.close();
  });
});
