import { describe, expect, it } from "vitest";
import { appendFile } from "../../src/files/append-file.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Storage, StorageError } from "../../src/storage/storage.ts";
import { type Asked, fileRequest } from "../helpers/file-request.ts";

const post = (asked: Asked = {}): Asked => ({ method: "POST", body: ["more"], ...asked });
const sizeOf = async (storage: Storage): Promise<number | undefined> => (await storage.stat("/a.txt"))?.size;

describe("appending to a file", () => {
  it("judges the conditions again at the moment of the change", async () => {
    const storage = memoryStorage({ "/a.txt": "old" });
    const headers = { "if-match": `"${(await storage.stat("/a.txt"))?.version}"` };
    const request = await fileRequest(storage, "/a.txt", post({ headers }));
    await appendFile(await fileRequest(storage, "/a.txt", post()));
    await expect(appendFile(request)).rejects.toMatchObject({ status: 412 });
    expect([await sizeOf(storage), request.changes]).toEqual([7, []]);
  });

  it("counts the size at that moment, too", async () => {
    const storage = memoryStorage({ "/a.txt": "old" });
    const asked = post({ options: { maxFileSize: 10 } });
    const request = await fileRequest(storage, "/a.txt", asked);
    await appendFile(await fileRequest(storage, "/a.txt", asked));
    await expect(appendFile(request)).rejects.toMatchObject({ status: 413, code: "FILE_TOO_LARGE" });
    expect(await sizeOf(storage)).toBe(7);
  });

  it("stops reading where the file would become too large", async () => {
    let pieces = 0;
    const storage = memoryStorage({ "/a.txt": "old" });
    const append: Storage["append"] = async (path, content, options) => {
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const piece of content) {
          pieces += 1;
          yield piece;
        }
      }
      return storage.append(path, counted(), options);
    };
    const body = Array.from({ length: 100 }, () => "1234");
    const asked = post({ body, options: { maxFileSize: 10 } });
    await expect(appendFile(await fileRequest({ ...storage, append }, "/a.txt", asked))).rejects.toMatchObject({
      status: 413,
    });
    expect([pieces, await sizeOf(storage)]).toEqual([1, 3]);
  });

  it.each([
    ["the conditions fail", { "if-match": '"x"', "content-encoding": "gzip", "content-length": "5000" }, 412],
    ["the content is encoded", { "content-encoding": "gzip", "content-length": "5000" }, 415],
    ["too much is announced", { "content-length": "998" }, 413],
  ])("does not read the content where %s", async (_why, headers, status) => {
    const append = () => Promise.reject(new Error("it must not come to this"));
    const request = await fileRequest({ ...memoryStorage({ "/a.txt": "old" }), append }, "/a.txt", post({ headers }));
    await expect(appendFile(request)).rejects.toMatchObject({ status });
  });

  it("announces nothing where the storage fails", async () => {
    const append = () => Promise.reject(new StorageError("full"));
    const request = await fileRequest({ ...memoryStorage({ "/a.txt": "old" }), append }, "/a.txt", post());
    await expect(appendFile(request)).rejects.toMatchObject({ code: "full" });
    expect(request.changes).toEqual([]);
  });
});
