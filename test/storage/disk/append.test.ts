import fs from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskLocks } from "../../../src/storage/disk/disk-locks.ts";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { content, textAt } from "../content.ts";
import { type Call, replaceCall } from "../replace-call.ts";

async function rootWith(text: string): Promise<{ root: string; file: string }> {
  const root = await temporaryDirectory({ "a.txt": text });
  const file = join(root, "a.txt");
  return { root, file };
}

/** Has `look` called before every sync of content. */
function beforeEverySync(look: () => Promise<void>): void {
  replaceCall("fdatasync", (sync, values) => void look().then(() => sync(...values)));
}

describe("an append on the disk", () => {
  it("keeps the file itself, with its mode and its other names", async () => {
    const { root, file } = await rootWith("old");
    const before = await stat(file);
    await diskStorage(root).append("/a.txt", content(" new"));
    const after = await stat(file);
    expect([after.ino, after.mode]).toEqual([before.ino, before.mode]);
  });

  it("is seen at the new path of its directory, also while another change holds the lock there", async () => {
    const root = await temporaryDirectory();
    const files = diskStorage(root);
    await files.write("/dir/a.txt", content("-"));
    for (const text of ["1", "2"]) await files.append("/dir/a.txt", content(text));
    await files.move?.("/dir/", "/new/");
    const seen = await diskLocks.run(join(root, "new/a.txt"), () => textAt(files, "/new/a.txt"));
    expect(seen).toBe("-12");
    await files.close?.();
  });

  it("is seen by readers as a whole or not at all", async () => {
    const { root, file } = await rootWith("old");
    const storage = diskStorage(root);
    const before = await storage.stat("/a.txt");
    const onDisk: string[] = [];
    const seen: unknown[] = [];
    beforeEverySync(async () => {
      onDisk.push(await readFile(file, "utf8"));
      seen.push([await textAt(storage, "/a.txt"), (await storage.stat("/a.txt"))?.version]);
    });
    await storage.append("/a.txt", content(" new"));
    expect(onDisk).toContain("old new");
    expect(seen).toEqual(onDisk.map(() => ["old", before?.version]));
    expect(await textAt(storage, "/a.txt")).toBe("old new");
  });

  it("is taken back when it fails half-way", async () => {
    const { root, file } = await rootWith("old");
    const storage = diskStorage(root);
    const error = Object.assign(new Error("no space"), { code: "ENOSPC" });
    let half = "";
    replaceCall("write", (write, values) => {
      const [opened, bytes, , , position, callback] = values as [number, Uint8Array, 0, number, null, Call];
      if (position !== null) return write(...values); // the note
      write(opened, bytes, 0, 2, null, () => {
        half = fs.readFileSync(file, "utf8");
        callback(error);
      });
    });
    await expect(storage.append("/a.txt", content(" new"))).rejects.toMatchObject({ code: "full", cause: error });
    expect(half).toBe("old n");
    expect(await textAt(storage, "/a.txt")).toBe("old");
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("does not overwrite what another program adds at the same time", async () => {
    const { root, file } = await rootWith("old");
    let hasAdded = false;
    beforeEverySync(async () => {
      if (!hasAdded) await writeFile(file, " other", { flag: "a" });
      hasAdded = true;
    });
    await diskStorage(root).append("/a.txt", content(" new"));
    expect(await readFile(file, "utf8")).toBe("old other new");
  });

  it("adds more than it copies at a time", async () => {
    const { root } = await rootWith("old");
    const piece = Buffer.alloc(300_000, "x");
    const { stat: after } = await diskStorage(root).append("/a.txt", content(piece, piece, piece));
    expect(after.size).toBe(900_003);
  });
});
