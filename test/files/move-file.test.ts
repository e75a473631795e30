import { describe, expect, it } from "vitest";
import { moveFile } from "../../src/files/move-file.ts";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fileRequest } from "../helpers/file-request.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { content, textAt } from "../storage/content.ts";

const headers = { destination: "/b.txt" };

describe("moving a file", () => {
  it("announces the new file first, then the deletion of the old, in a copy as in a rename", async () => {
    const disk = diskStorage(await temporaryDirectory());
    await disk.write("/a.txt", content("a"));
    for (const storage of [memoryStorage({ "/a.txt": "a" }), disk]) {
      const request = await fileRequest(storage, "/a.txt", { method: "MOVE", headers });
      expect((await moveFile(request)).status).toBe(201);
      expect(request.changes).toMatchObject([
        { kind: "created", path: "/b.txt", size: 1 },
        { kind: "deleted", path: "/a.txt" },
      ]);
      expect([await textAt(storage, "/b.txt"), await storage.stat("/a.txt")]).toEqual(["a", undefined]);
    }
  });

  it("keeps a file that was changed while it was copied", async () => {
    const inner = memoryStorage({ "/a.txt": "old" });
    const write: typeof inner.write = async (path, ...rest) => {
      const result = await inner.write(path, ...rest);
      await inner.write("/a.txt", content("edited"));
      return result;
    };
    const request = await fileRequest({ ...inner, write }, "/a.txt", { method: "MOVE", headers });
    await expect(moveFile(request)).rejects.toMatchObject({ status: 409, code: "WRITE_CONFLICT" });
    expect([await textAt(inner, "/a.txt"), await textAt(inner, "/b.txt")]).toEqual(["edited", "old"]);
    expect(request.changes.map(({ kind }) => kind)).toEqual(["created"]);
  });

  it("changes nothing where the host program refuses the deletion or the new file", async () => {
    for (const refused of ["deleted", "created"]) {
      const disk = diskStorage(await temporaryDirectory());
      await disk.write("/a.txt", content("a"));
      const beforeWrite = ({ kind }: { kind: string }) => {
        if (kind === refused) throw new Error("refused");
      };
      const request = await fileRequest(disk, "/a.txt", { method: "MOVE", headers, options: { beforeWrite } });
      await expect(moveFile(request)).rejects.toThrow("refused");
      expect([await textAt(disk, "/a.txt"), await disk.stat("/b.txt"), request.changes]).toEqual(["a", undefined, []]);
    }
  });
});
