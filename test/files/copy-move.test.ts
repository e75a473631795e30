import { describe, expect, it } from "vitest";
import { copyFile, moveDirectory, moveFile } from "../../src/files/copy-move.ts";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fileRequest } from "../helpers/file-request.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { content, textAt } from "../storage/content.ts";

describe("copying a file", () => {
  it("announces just the file that was written", async () => {
    const storage = memoryStorage({ "/a.txt": "new", "/b.txt": "old" });
    const ask = (destination: string) => fileRequest(storage, "/a.txt", { method: "COPY", headers: { destination } });
    const [made, replaced] = [await ask("/c.txt"), await ask("/b.txt")];
    expect((await copyFile(made)).status).toBe(201);
    expect((await copyFile(replaced)).status).toBe(204);
    expect(made.changes).toMatchObject([{ kind: "created", path: "/c.txt", size: 3 }]);
    expect(replaced.changes).toMatchObject([{ kind: "replaced", path: "/b.txt", size: 3 }]);
  });

  it("lets the host program decide about the content", async () => {
    const storage = memoryStorage({ "/a.txt": "new" });
    const asked: string[] = [];
    const beforeWrite = ({ kind, path }: { kind: string; path: string }) => {
      asked.push(`${kind} ${path}`);
      return "decided";
    };
    const options = { beforeWrite };
    await copyFile(
      await fileRequest(storage, "/a.txt", { method: "COPY", headers: { destination: "/b.txt" }, options }),
    );
    expect([asked, await textAt(storage, "/b.txt")]).toEqual([["created /b.txt"], "decided"]);
  });

  it("refuses a file that is stored in a coding", async () => {
    const inner = memoryStorage({ "/a.txt": "coded" });
    const open = async (path: string) => {
      const file = await inner.open(path);
      const stat = file && { ...file.stat, fields: { "content-encoding": "gzip" } };
      return (
        file &&
        stat && { ...file, stat, close: () => file.close(), stream: () => file.stream(), bytes: () => file.bytes() }
      );
    };
    const request = await fileRequest({ ...inner, open }, "/a.txt", {
      method: "COPY",
      headers: { destination: "/b.txt" },
    });
    await expect(copyFile(request)).rejects.toMatchObject({ code: "encoded" });
    expect(await inner.stat("/b.txt")).toBeUndefined();
  });
});

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

describe("moving a directory", () => {
  it("is one step, with what came until then, or file by file where the host program decides", async () => {
    for (const beforeWrite of [undefined, () => undefined]) {
      const disk = diskStorage(await temporaryDirectory());
      await disk.write("/from/a.txt", content("a"));
      await disk.write("/from/in/b.txt", content("bb"));
      const late = beforeWrite ? [] : ["created /to/late.txt", "deleted /from/late.txt"];
      const move: typeof disk.move = async (from, to, checks) => {
        await disk.write("/from/late.txt", content("c"));
        return disk.move?.(from, to, checks);
      };
      const asked = { method: "MOVE", headers: { destination: "/to" }, options: { beforeWrite } };
      const request = await fileRequest({ ...disk, move }, "/from/", asked);
      expect((await moveDirectory(request)).status).toBe(201);
      expect(request.changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
        ...["created /to/a.txt", "deleted /from/a.txt", "created /to/in/b.txt", "deleted /from/in/b.txt"],
        ...late,
      ]);
      expect([await disk.stat("/from"), await textAt(disk, "/to/in/b.txt")]).toEqual([undefined, "bb"]);
    }
  });
});
