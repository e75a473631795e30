import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import {
  appendFile,
  createFile,
  deleteFile,
  makeDirectory,
  replacesAnything,
  withoutFragments,
  writeFile,
} from "../../src/files/write-file.ts";
import type { Right } from "../../src/server/access.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Storage, StorageError, type WriteOptions } from "../../src/storage/storage.ts";
import { type Asked, fileRequest } from "../helpers/file-request.ts";

const put = (asked: Asked = {}): Asked => ({ method: "PUT", body: ["content"], ...asked });

describe("a change of a file", () => {
  const changes = { PUT: writeFile, POST: appendFile, DELETE: deleteFile };
  it.each(Object.entries(changes))("judges the conditions of a %s again at its moment", async (method, change) => {
    const storage = memoryStorage({ "/a.txt": "old" });
    const headers = { "if-match": `"${(await storage.stat("/a.txt"))?.version}"` };
    const request = await fileRequest(storage, "/a.txt", { method, headers, body: ["more"] });
    await storage.write("/a.txt", (await fileRequest(storage, "/", { body: ["meanwhile"] })).exchange.body);
    const now = `"${(await storage.stat("/a.txt"))?.version}"`;
    await expect(change(request)).rejects.toMatchObject({ status: 412, headers: { etag: now } });
    expect([(await storage.stat("/a.txt"))?.size, request.changes]).toEqual([9, []]);
  });
});

describe("writing a file", () => {
  it("does not overwrite by the right to create what somebody else has put there meanwhile", async () => {
    const storage = memoryStorage();
    const request = await fileRequest(storage, "/a.txt", put({ permits: (right) => right === "create" }));
    await storage.write("/a.txt", (await fileRequest(storage, "/", { body: ["meanwhile"] })).exchange.body);
    await expect(writeFile(request)).rejects.toMatchObject({ status: 401 });
    expect([(await storage.stat("/a.txt"))?.size, request.changes]).toEqual([9, []]);
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
});

describe("what is to be stored", () => {
  const must = { method: "POST", body: ["content"] };
  const named = { "x-filename": "a.txt" };
  const gzip = { "content-encoding": "gzip" };
  const failing = { "if-match": '"x"', ...gzip };
  const storage = memoryStorage({ "/a.txt": "old", "/taken/a.txt": "" });

  it.each([
    ["the conditions of a PUT fail", writeFile, "/a.txt", { "if-none-match": "*", ...gzip }, 412],
    ["that of a PUT is encoded", writeFile, "/a.txt", gzip, 415],
    ["the conditions of an append fail", appendFile, "/a.txt", { ...failing, "content-length": "5000" }, 412],
    ["that of an append is encoded", appendFile, "/a.txt", { ...gzip, "content-length": "5000" }, 415],
    ["too much is announced", appendFile, "/a.txt", { "content-length": "998" }, 413],
    ["the name is taken", createFile, "/taken/", named, 409],
    ["the conditions of a new file fail", createFile, "/new/", { ...named, ...failing }, 412],
    ["that of a new file is encoded", createFile, "/new/", { ...named, ...gzip }, 415],
  ] as const)("is not read where %s", async (_why, operation, path, headers, status) => {
    const refuse = () => Promise.reject(new Error("it must not come to this"));
    const method = operation === writeFile ? "PUT" : "POST";
    const request = await fileRequest({ ...storage, write: refuse, append: refuse }, path, {
      ...must,
      method,
      headers,
    });
    await expect(operation(request)).rejects.toMatchObject({ status });
  });

  it("is not announced where the storage fails, or somebody else was faster", async () => {
    for (const [operation, path, code] of [
      [appendFile, "/a.txt", "full"],
      [createFile, "/", "exists"],
    ] as const) {
      const fail = () => Promise.reject(new StorageError(code));
      const request = await fileRequest({ ...storage, stat: async () => undefined, write: fail, append: fail }, path, {
        ...must,
        headers: named,
      });
      await expect(operation(request)).rejects.toMatchObject({ code });
      expect(request.changes).toEqual([]);
    }
  });
});

describe("deleting a file", () => {
  it("judges the conditions of a directory again, too", async () => {
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

describe("making a directory", () => {
  it("answers with where it is, and announces nothing", async () => {
    const storage = memoryStorage();
    const request = await fileRequest(storage, "/a b", { method: "MKCOL" });
    expect(await makeDirectory(request)).toMatchObject({ status: 201, headers: { location: "/a%20b/" } });
    expect([(await storage.stat("/a b"))?.type, request.changes]).toEqual(["directory", []]);
  });

  it.each([415, 412])("refuses content without a header for it, but a precondition first: %i", async (status) => {
    const storage = memoryStorage();
    const headers: Record<string, string> = status === 412 ? { "if-match": "*" } : {};
    const request = await fileRequest(storage, "/dir", { method: "MKCOL", body: ["", "x"], headers });
    await expect(makeDirectory(request)).rejects.toMatchObject({ status });
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

const page = "<!-- a -->\n<!DOCTYPE html><title>t</title>";

async function storing(stored: string | undefined, body: string, path = "/a.html", refuseFragments = true) {
  const storage = memoryStorage(stored === undefined ? {} : { [path]: stored });
  const files = createFileServer({ storage, refuseFragments });
  onTestFinished(() => files.close());
  const reply = await files.fetch(new Request(`http://localhost${path}`, { method: "PUT", body }));
  const { code } = (await reply.json()) as { code?: string };
  const after = await (await files.fetch(new Request(`http://localhost${path}`))).text();
  return [reply.status, code, after === stored];
}

describe("the option refuseFragments", () => {
  it.each(["<li>a</li>", "", "text", "<header>a</header>", `${"<p>".repeat(40_000)}<html>`])(
    "refuses a fragment in place of a page, and leaves that: %#",
    async (fragment) => {
      expect(await storing(page, fragment)).toEqual([409, "FRAGMENT_REFUSED", true]);
    },
  );

  it.each(["<html lang=en>", "<HEAD>", "x<body\n>", "<!doctype html><p>", `<!--${"x".repeat(60_000)}--><html>`])(
    "takes a page for a page: %#",
    async (other) => {
      expect(await storing(page, other)).toEqual([200, undefined, false]);
    },
  );

  it.each([
    ["where nothing is stored", undefined, "/a.html"],
    ["in place of a fragment", "<p>a</p>", "/a.html"],
    ["in place of an empty file", "", "/a.html"],
    ["in a file of another type", page, "/a.txt"],
  ])("lets a fragment be stored %s", async (_, stored, path) => {
    expect((await storing(stored, "<li>b</li>", path))[0]).toBeLessThan(300);
  });

  it("is off unless it is asked for", async () => {
    expect(await storing(page, "<li>b</li>", "/a.html", false)).toEqual([200, undefined, false]);
  });
});

describe("withoutFragments", () => {
  it("finds markup that arrives in pieces, and holds back no more than it has to look at", async () => {
    const big = "x".repeat(70_000);
    const storage = memoryStorage({ "/a.html": page });
    const body = ["<!doc", "type html>", big, big];
    const request = await fileRequest(storage, "/a.html", {
      method: "PUT",
      body,
      options: { refuseFragments: true, maxFileSize: 1e6 },
    });
    const pieces: number[] = [];
    for await (const piece of await withoutFragments(request)) pieces.push(piece.byteLength);
    expect(pieces).toEqual(body.map(({ length }) => length));
  });
});
