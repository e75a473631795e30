import { describe, expect, it } from "vitest";
import { createFile } from "../../src/files/create-file.ts";
import type { Right } from "../../src/server/access.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Storage, StorageError, type WriteOptions } from "../../src/storage/storage.ts";
import { type Asked, fileRequest } from "../helpers/file-request.ts";

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
