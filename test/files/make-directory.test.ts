import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../src/files/make-directory.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { fileRequest } from "../helpers/file-request.ts";

describe("making a directory", () => {
  it("answers with where it is, and announces nothing", async () => {
    const storage = memoryStorage();
    const request = await fileRequest(storage, "/a b", { method: "MKCOL" });
    expect(await makeDirectory(request)).toMatchObject({ status: 201, headers: { location: "/a%20b/" } });
    expect([(await storage.stat("/a b"))?.type, request.changes]).toEqual(["directory", []]);
  });

  it.each([{ "content-length": "1" }, { "transfer-encoding": "chunked" }])("refuses content: %j", async (headers) => {
    const storage = memoryStorage();
    const request = await fileRequest(storage, "/dir", { method: "MKCOL", headers: headers as never });
    await expect(makeDirectory(request)).rejects.toMatchObject({ status: 415, code: "UNSUPPORTED_TYPE" });
    expect(await storage.stat("/dir")).toBeUndefined();
  });

  it("asks the host program, and refuses where the storage makes none", async () => {
    const beforeWrite = ({ path }: { path: string }) => {
      throw new Error(path);
    };
    const asked = await fileRequest(memoryStorage(), "/dir", { method: "MKCOL", options: { beforeWrite } });
    await expect(makeDirectory(asked)).rejects.toThrow("/dir/");
    const { makeDirectory: _without, ...storage } = memoryStorage();
    const request = await fileRequest(storage, "/dir", { method: "MKCOL" });
    await expect(makeDirectory(request)).rejects.toMatchObject({ code: "forbidden" });
  });
});
