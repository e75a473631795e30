import { describe, expect, it } from "vitest";
import { replacesAnything, writeFile } from "../../src/files/write-file.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage, WriteOptions } from "../../src/storage/storage.ts";
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
