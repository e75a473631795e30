import { describe, expect, it } from "vitest";
import { appendFile, createFile, replacesAnything, writeFile } from "../../src/files/write-file.ts";
import type { Right } from "../../src/server/access.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Storage, StorageError, type WriteOptions } from "../../src/storage/storage.ts";
import { type Asked, fileRequest } from "../helpers/file-request.ts";

const put = (asked: Asked = {}): Asked => ({ method: "PUT", body: ["content"], ...asked });

describe("writing a file", () => {
  it("judges the conditions again at the moment of the change", async () => {
    const storage = memoryStorage({ "/a.txt": "old" });
    const tag = `"${(await storage.stat("/a.txt"))?.version}"`;
    const request = await fileRequest(storage, "/a.txt", put({ headers: { "if-match": tag } }));
    await storage.write("/a.txt", (await fileRequest(storage, "/", { body: ["meanwhile"] })).exchange.body);
    const now = `"${(await storage.stat("/a.txt"))?.version}"`;
    await expect(writeFile(request)).rejects.toMatchObject({ status: 412, headers: { etag: now } });
    expect([(await storage.stat("/a.txt"))?.size, request.changes]).toEqual([9, []]);
  });

  it("does not overwrite by the right to create what somebody else has put there meanwhile", async () => {
    const storage = memoryStorage();
    const request = await fileRequest(storage, "/a.txt", put({ permits: (right) => right === "create" }));
    await storage.write("/a.txt", (await fileRequest(storage, "/", { body: ["meanwhile"] })).exchange.body);
    await expect(writeFile(request)).rejects.toMatchObject({ status: 401 });
    expect([(await storage.stat("/a.txt"))?.size, request.changes]).toEqual([9, []]);
  });

  it.each([
    ["the conditions fail", { "if-none-match": "*" }, 412],
    ["the content is encoded", { "content-encoding": "gzip" }, 415],
    ["both", { "if-none-match": "*", "content-encoding": "gzip" }, 412],
  ])("does not read the content where %s", async (_why, headers, status) => {
    let isRead = false;
    const storage = memoryStorage({ "/a.txt": "old" });
    const write: Storage["write"] = (path, content, options) => {
      isRead = true;
      return storage.write(path, content, options);
    };
    const request = await fileRequest({ ...storage, write }, "/a.txt", put({ headers }));
    await expect(writeFile(request)).rejects.toMatchObject({ status });
    expect(isRead).toBe(false);
  });

  it.each([true, false])("tells the storage whether to make parents: %s", async (createParents) => {
    let given: WriteOptions | undefined;
    const storage = memoryStorage();
    const write: Storage["write"] = (path, content, options) => {
      given = options;
      return storage.write(path, content, options);
    };
    await writeFile(await fileRequest({ ...storage, write }, "/a.txt", put({ options: { createParents } })));
    expect(given).toMatchObject({ createParents });
  });

  it("goes by what the storage replaced, not by what was there before the content came", async () => {
    const storage = memoryStorage();
    const request = await fileRequest(storage, "/a.txt", put());
    await writeFile(await fileRequest(storage, "/a.txt", put()));
    const reply = await writeFile(request);
    expect([reply.status, reply.headers["location"], request.changes[0]?.kind]).toEqual([200, undefined, "replaced"]);
  });
});

describe("what is at the path of a PUT", () => {
  it("need not be asked for where any file may be there", async () => {
    const { exchange, options } = await fileRequest(memoryStorage(), "/a.txt", put());
    expect(replacesAnything(exchange, options, "/a.txt")).toBe(true);
  });

  it.each<[string, Asked]>([
    ["of another method", { method: "DELETE" }],
    ["with a condition", { headers: { "if-match": "*" } }],
    ["with the condition that there is none", { headers: { "if-none-match": "*" } }],
    ["with a condition of time", { headers: { "if-unmodified-since": new Date(0).toUTCString() } }],
    ["by who may not create", { permits: (right) => right === "overwrite" }],
    ["by who may not overwrite", { permits: (right) => right === "create" }],
    ["that the host program decides about", { options: { beforeWrite: () => undefined } }],
  ])("is asked for by a request %s", async (_which, asked) => {
    const { exchange, options } = await fileRequest(memoryStorage(), "/a.txt", put(asked));
    expect(replacesAnything(exchange, options, "/a.txt")).toBe(false);
  });
});

const adding = (asked: Asked = {}): Asked => ({ method: "POST", body: ["more"], ...asked });
const sizeOf = async (storage: Storage): Promise<number | undefined> => (await storage.stat("/a.txt"))?.size;

describe("appending to a file", () => {
  it("judges the conditions again at the moment of the change", async () => {
    const storage = memoryStorage({ "/a.txt": "old" });
    const headers = { "if-match": `"${(await storage.stat("/a.txt"))?.version}"` };
    const request = await fileRequest(storage, "/a.txt", adding({ headers }));
    await appendFile(await fileRequest(storage, "/a.txt", adding()));
    await expect(appendFile(request)).rejects.toMatchObject({ status: 412 });
    expect([await sizeOf(storage), request.changes]).toEqual([7, []]);
  });

  it("counts the size at that moment, too", async () => {
    const storage = memoryStorage({ "/a.txt": "old" });
    const asked = adding({ options: { maxFileSize: 10 } });
    const request = await fileRequest(storage, "/a.txt", asked);
    await appendFile(await fileRequest(storage, "/a.txt", asked));
    await expect(appendFile(request)).rejects.toMatchObject({ status: 413, code: "FILE_TOO_LARGE" });
    expect(await sizeOf(storage)).toBe(7);
  });

  it("stops reading where the file would become too large", async () => {
    let pieces = 0;
    const storage = memoryStorage({ "/a.txt": "old" });
    const counting: Storage["append"] = async (path, content, options) => {
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const piece of content) {
          pieces += 1;
          yield piece;
        }
      }
      return storage.append(path, counted(), options);
    };
    const body = Array.from({ length: 100 }, () => "1234");
    const asked = adding({ body, options: { maxFileSize: 10 } });
    await expect(
      appendFile(await fileRequest({ ...storage, append: counting }, "/a.txt", asked)),
    ).rejects.toMatchObject({
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
    const request = await fileRequest({ ...memoryStorage({ "/a.txt": "old" }), append }, "/a.txt", adding({ headers }));
    await expect(appendFile(request)).rejects.toMatchObject({ status });
  });

  it("announces nothing where the storage fails", async () => {
    const append = () => Promise.reject(new StorageError("full"));
    const request = await fileRequest({ ...memoryStorage({ "/a.txt": "old" }), append }, "/a.txt", adding());
    await expect(appendFile(request)).rejects.toMatchObject({ code: "full" });
    expect(request.changes).toEqual([]);
  });
});

const post = (asked: Asked = {}): Asked => ({
  method: "POST",
  body: ["content"],
  ...asked,
  headers: { "x-filename": "a.txt", ...asked.headers },
});

describe("creating a file in a directory", () => {
  it("has the storage make it only where nothing is, and no directories", async () => {
    let given: WriteOptions | undefined;
    const storage = memoryStorage();
    const write: Storage["write"] = (path, content, options) => {
      given = options;
      return storage.write(path, content, options);
    };
    await createFile(await fileRequest({ ...storage, write }, "/", post()));
    expect(given).toMatchObject({ exclusive: true, createParents: false });
  });

  it("asks for the right to create that very file, before it looks whether it is there", async () => {
    const asked: string[] = [];
    const permits = (right: Right, path: string): boolean => {
      asked.push(`${right} ${path}`);
      return false;
    };
    const storage = memoryStorage({ "/inbox/a.txt": "taken" });
    const request = await fileRequest(storage, "/inbox/", post({ permits }));
    await expect(createFile(request)).rejects.toMatchObject({ status: 401, code: "REFUSED" });
    expect(asked).toEqual(["create /inbox/a.txt"]);
  });

  it.each([
    ["the name is taken", "/taken/", {}, 409],
    ["the conditions fail", "/", { "if-match": '"x"', "content-encoding": "gzip" }, 412],
    ["the content is encoded", "/", { "content-encoding": "gzip" }, 415],
  ])("does not read the content where %s", async (_why, path, headers, status) => {
    const write = () => Promise.reject(new Error("it must not come to this"));
    const storage = { ...memoryStorage({ "/taken/a.txt": "" }), write };
    await expect(createFile(await fileRequest(storage, path, post({ headers })))).rejects.toMatchObject({ status });
  });

  it("announces nothing where somebody else was faster", async () => {
    const write = () => Promise.reject(new StorageError("exists"));
    const request = await fileRequest({ ...memoryStorage(), write }, "/", post());
    await expect(createFile(request)).rejects.toMatchObject({ code: "exists" });
    expect(request.changes).toEqual([]);
  });

  it("gives the location below the mount", async () => {
    const reply = await createFile(await fileRequest(memoryStorage(), "/", post({ mount: "/app" })));
    expect(reply).toMatchObject({ status: 201, headers: { location: "/app/a.txt" } });
  });
});
