import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { directory, diskStorage, permissions, StorageError } from "../../src/index.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { type Files, storages, type TestStorage, testSite } from "../helpers/test-site.ts";

const folder = { "/from/a.txt": "a", "/from/in/b.html": "<p>b", "/from/none/": "", "/other.txt": "o" };
const files = { "/a.txt": "a", "/b.txt": "b", "/dir/c.txt": "c" };

describe.each(storages)("MOVE, COPY and MKCOL $where", ({ make }) => {
  it.each([
    ["/new.txt", 201],
    ["/b.txt", 204],
    ["/dir/new.txt", 201],
  ])("copy and move a file to %s with %i", async (destination, status) => {
    for (const method of ["COPY", "MOVE"]) {
      const site = await testSite(await make(files));
      const answer = await site.send(method, "/a.txt", { headers: { destination } });
      expect([answer.status, answer.text]).toEqual([status, ""]);
      expect(await site.textAt(destination)).toBe("a");
      expect(await site.textAt("/a.txt")).toBe(method === "COPY" ? "a" : undefined);
      const { etag, location } = answer.headers;
      expect(location).toBe(status === 201 ? destination : undefined);
      expect((await site.send("HEAD", destination)).headers.etag).toBe(etag);
      expect(site.changes.map(({ kind, path, method }) => [kind, path, method])).toEqual([
        [status === 201 ? "created" : "replaced", destination, method],
        ...(method === "COPY" ? [] : [["deleted", "/a.txt", "MOVE"]]),
      ]);
    }
  });

  it.each([
    ["/a.txt", "/none/new.txt", {}, 409],
    ["/a.txt", "/a.txt/new.txt", {}, 409],
    ["/a.txt", "/b.txt", { overwrite: "F" }, 412],
    ["/a.txt", "/new.txt", { "if-match": '"x"' }, 412],
    ["/a.txt", "/a.txt", {}, 403],
    ["/a.txt", "http://other.example/new.txt", {}, 403],
    ["/a.txt", "/.hidden", {}, 403],
    ["/a.txt", "/dir", {}, 409],
    ["/from/", "/from/in/deeper", {}, 403],
    ["/from/", "/from", {}, 403],
    ["/from/", "/", {}, 409],
    ["/from/", "/other.txt", {}, 409],
    ["/from/", "/other.txt", { overwrite: "F" }, 412],
    ["/from/", "/missing/to", {}, 409],
    ["/from/", "/.hidden", {}, 403],
    ["/from/", "/to", { "if-match": '"x"' }, 412],
  ])("change nothing of %s for %s %j: %i", async (source, destination, more, status) => {
    for (const method of ["COPY", "MOVE"]) {
      const site = await testSite(await make({ ...files, ...folder }));
      const before = await site.everything();
      expect((await site.send(method, source, { headers: { destination, ...more } })).status).toBe(status);
      expect([await site.everything(), site.changes]).toEqual([before, []]);
    }
  });

  it("copy and move by the tag that the client knows", async () => {
    const site = await testSite(await make(files));
    const { etag = "" } = (await site.send("HEAD", "/a.txt")).headers;
    const headers = { destination: "/new.txt", "if-match": etag, overwrite: "F" };
    expect((await site.send("MOVE", "/a.txt", { headers })).status).toBe(201);
    expect((await site.send("MOVE", "/a.txt", { headers })).status).toBe(404);
  });

  it.each(["/to", "/to/", "/none/../to"])("copy and move a directory with all in it to %s", async (destination) => {
    for (const method of ["COPY", "MOVE"]) {
      const site = await testSite(await make(folder));
      const answer = await site.send(method, method === "COPY" ? "/from" : "/from/", { headers: { destination } });
      expect([answer.status, answer.text, answer.headers.location]).toEqual([201, "", "/to/"]);
      const content = ["/", "/a.txt", "/in/", "/in/b.html", "/none/"];
      const left = method === "COPY" ? content.map((path) => `/from${path}`) : [];
      const everything = [...left, "/other.txt", ...content.map((path) => `/to${path}`)];
      expect((await site.everything()).filter((path) => path !== "/")).toEqual(everything);
      expect(await site.textAt("/to/in/b.html")).toBe("<p>b");
      const told = (path: string) => [
        ["created", `/to${path}`],
        ...(method === "COPY" ? [] : [["deleted", `/from${path}`]]),
      ];
      expect(site.changes.map(({ kind, path }) => [kind, path])).toEqual(["/a.txt", "/in/b.html"].flatMap(told));
    }
  });

  it("copy a directory alone with Depth: 0", async () => {
    const site = await testSite(await make(folder));
    const headers = { destination: "/to", depth: "0" };
    expect((await site.send("COPY", "/from/", { headers })).status).toBe(201);
    expect(await site.textAt("/to/a.txt")).toBe(undefined);
    expect((await site.send("MOVE", "/from/", { headers: { ...headers, destination: "/two" } })).status).toBe(400);
    expect((await site.send("COPY", "/from/", { headers: { ...headers, depth: "1" } })).status).toBe(400);
  });

  it("make a directory, in which files can be made", async () => {
    const site = await testSite(await make(files));
    const statuses = async (targets: readonly string[]) =>
      Promise.all(targets.map(async (target) => (await site.send("MKCOL", target)).status));
    expect(await statuses(["/one", "/dir/two/"])).toEqual([201, 201]);
    expect(await statuses(["/one", "/one/", "/a.txt", "/", "/none/x", "/a.txt/x", "/.x"])).toEqual([
      405, 405, 405, 405, 409, 409, 403,
    ]);
    expect((await site.send("MKCOL", "/three", { body: "<xml/>" })).status).toBe(415);
    const headers = { "x-filename": "x.txt" };
    expect((await site.send("POST", "/one/", { headers, body: "x" })).status).toBe(201);
    expect((await site.everything()).filter((path) => path !== "/one/")).toContain("/one/x.txt");
  });
});

function inMemory(files: Files): TestStorage {
  const storage = memoryStorage(files);
  return { storage, everything: async () => Object.keys(files) };
}

describe("MOVE, COPY and MKCOL", () => {
  it("are off where files are only read", async () => {
    const site = await testSite(inMemory(files), { readOnly: true });
    for (const method of ["MOVE", "COPY", "MKCOL"]) {
      const answer = await site.send(method, "/a.txt", { headers: { destination: "/n.txt" } });
      expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
  });

  it("take rights at both ends", async () => {
    const rule = (path: string, rights: readonly ("read" | "create" | "delete" | "overwrite")[]) =>
      ({ username: "*", path, rights, permission: "allow" }) as const;
    const rules = [rule("/", ["read"]), rule("/in/*", ["create"]), rule("/out/*", ["read", "delete"])];
    const made = inMemory({ "/out/a.txt": "a", "/in/b.txt": "b", "/c.txt": "" });
    const site = await testSite(made, { plugins: [permissions({ user: () => undefined, rules })] });
    const ask = async (method: string, from: string, destination: string) =>
      (await site.send(method, from, { headers: { destination } })).status;
    expect(await ask("MOVE", "/out/a.txt", "/in/b.txt")).toBe(401); // may create there, not overwrite
    expect(await ask("MOVE", "/out/a.txt", "/n.txt")).toBe(401);
    expect(await ask("COPY", "/in/b.txt", "/in/c.txt")).toBe(401); // may not be read
    expect(await ask("MOVE", "/c.txt", "/in/c.txt")).toBe(401); // may not be deleted
    expect(await ask("MKCOL", "/out/new", "")).toBe(401);
    expect(await ask("MKCOL", "/in/new", "")).toBe(201);
    expect(await ask("COPY", "/out/a.txt", "/in/c.txt")).toBe(201);
    expect(await ask("MOVE", "/out/a.txt", "/in/d.txt")).toBe(201);
  });

  it("move no directory of which the client may not move all, or sees only a part", async () => {
    const rights = ["read", "list", "create", "delete"] as const;
    const rules = [
      { username: "*", path: "/*", rights, permission: "allow" },
      { username: "*", path: "/kept/*.txt", rights: ["delete"], permission: "deny" },
      { username: "*", path: "/unseen/*.txt", rights: ["read"], permission: "deny" },
      { username: "*", path: "/to/*.txt", rights: ["create"], permission: "deny" },
    ] as const;
    const made = { "/kept/a.txt": "a", "/unseen/b.txt": "b", "/unseen/c.html": "c", "/open/d.txt": "d", "/.x/e": "e" };
    const site = await testSite(inMemory({ ...made, "/hidden/.e": "e" }), {
      plugins: [permissions({ user: () => undefined, rules })],
    });
    const ask = async (method: string, from: string, destination: string) =>
      (await site.send(method, from, { headers: { destination } })).status;
    expect(await ask("MOVE", "/kept", "/new")).toBe(401);
    expect(await ask("MOVE", "/unseen", "/new")).toBe(403);
    expect(await ask("MOVE", "/hidden", "/new")).toBe(403);
    expect(await ask("MOVE", "/open", "/to")).toBe(401);
    expect(await ask("COPY", "/open", "/to")).toBe(401);
    expect([await site.textAt("/new/b.txt"), site.changes]).toEqual([undefined, []]);
    expect(await ask("COPY", "/unseen", "/new")).toBe(201); // what may be read
    expect(site.changes.map(({ path }) => path)).toEqual(["/new/c.html"]);
  });

  it("leave a link in a directory and what it leads to alone", { tags: ["posix"] }, async () => {
    const root = await temporaryDirectory();
    for (const name of ["from", "other"]) await mkdir(join(root, name));
    await writeFile(join(root, "other/a.txt"), "a");
    await symlink("../other", join(root, "from/link"));
    const site = await testSite({ storage: diskStorage(root), everything: () => readdir(root, { recursive: true }) });
    const headers = { destination: "/to" };
    expect((await site.send("MOVE", "/from/", { headers })).status).toBe(403);
    expect((await site.send("COPY", "/from/", { headers })).status).toBe(201);
    expect((await site.everything()).sort()).toEqual([
      "from",
      "from/link",
      "from/link/a.txt", // by way of the link
      "other",
      "other/a.txt",
      "to",
    ]);
  });

  it("say how far they came where a directory cannot be moved to the end", async () => {
    const inner = memoryStorage({ "/from/a.txt": "a", "/from/b.txt": "b" });
    const write: typeof inner.write = async (path, ...rest) => {
      if (path === "/to/b.txt") throw new StorageError("full");
      return inner.write(path, ...rest);
    };
    const site = await testSite({ storage: { ...inner, write }, everything: async () => [] }, { onError: () => {} });
    const { status, text } = await site.send("MOVE", "/from/", { headers: { destination: "/to" } });
    expect([status, JSON.parse(text)]).toEqual([
      507,
      expect.objectContaining({
        details: expect.stringContaining("Of 2 files and folders, 1 are at the destination."),
      }),
    ]);
    const all = ["/from/a.txt", "/from/b.txt", "/to/a.txt", "/to/b.txt"].map(site.textAt);
    expect(await Promise.all(all)).toEqual([undefined, "b", "a", undefined]);
  });

  it("do not go around a plugin that covers the one path only", async () => {
    const closed = { name: "closed", handle: () => ({ status: 418, headers: {} }) };
    const made = inMemory({ "/a.txt": "a", "/private/b.txt": "b" });
    const site = await testSite(made, { plugins: [directory({ directory: "/private", plugins: [closed] })] });
    for (const destination of ["/private/n.txt", "/private/b.txt"]) {
      expect((await site.send("COPY", "/a.txt", { headers: { destination } })).status).toBe(403);
    }
    expect((await site.send("MOVE", "/private/b.txt", { headers: { destination: "/n.txt" } })).status).toBe(418);
  });
});
