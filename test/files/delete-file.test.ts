import { describe, expect, it } from "vitest";
import { deleteFile } from "../../src/files/delete-file.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { StorageError } from "../../src/storage/storage.ts";
import { fileRequest } from "../helpers/file-request.ts";

describe("deleting a file", () => {
  it("judges the conditions again at the moment of the change", async () => {
    const storage = memoryStorage({ "/a.txt": "old" });
    const headers = { "if-match": `"${(await storage.stat("/a.txt"))?.version}"` };
    const request = await fileRequest(storage, "/a.txt", { method: "DELETE", headers });
    await storage.append("/a.txt", (await fileRequest(storage, "/", { body: ["more"] })).exchange.body);
    await expect(deleteFile(request)).rejects.toMatchObject({ status: 412 });
    expect([(await storage.stat("/a.txt"))?.size, request.changes]).toEqual([7, []]);
  });

  it("does so for a directory, too", async () => {
    const storage = memoryStorage({ "/dir/": "" });
    const headers = { "if-match": `"${(await storage.stat("/dir/"))?.version}"` };
    const request = await fileRequest(storage, "/dir/", { method: "DELETE", headers });
    await storage.write("/dir/a.txt", (await fileRequest(storage, "/")).exchange.body);
    await storage.remove("/dir/a.txt");
    await expect(deleteFile(request)).rejects.toMatchObject({ status: 412 });
    expect((await storage.stat("/dir/"))?.type).toBe("directory");
  });

  it("does not touch the storage where they fail before", async () => {
    const remove = () => Promise.reject(new Error("it must not come to this"));
    const storage = { ...memoryStorage({ "/a.txt": "" }), remove };
    const request = await fileRequest(storage, "/a.txt", { method: "DELETE", headers: { "if-match": '"x"' } });
    await expect(deleteFile(request)).rejects.toMatchObject({ status: 412 });
  });

  it("announces the deletion, without a tag, only when it was done", async () => {
    const storage = memoryStorage({ "/a.txt": "" });
    const done = await fileRequest(storage, "/a.txt", { method: "DELETE" });
    const late = await fileRequest(storage, "/a.txt", { method: "DELETE" });
    expect((await deleteFile(done)).status).toBe(204);
    await expect(deleteFile(late)).rejects.toBeInstanceOf(StorageError);
    expect(done.changes).toEqual([expect.objectContaining({ kind: "deleted", path: "/a.txt" })]);
    expect(done.changes[0]).not.toHaveProperty("etag");
    expect(late.changes).toEqual([]);
  });
});
