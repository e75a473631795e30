import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import type { Right } from "../../../src/server/access.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { guardBy } from "../../helpers/file-request.ts";

type Permits = (right: Right, path: string) => boolean;

const nobody: Permits = () => false;
const everybody: Permits = () => true;
const only =
  (...rights: readonly Right[]): Permits =>
  (right) =>
    rights.includes(right);

const files = { "/page.html": "<p>hi", "/dir/b.txt": "b", "/site/index.html": "<p>hi", "/empty/": "" };

/** Answers a request by someone with those rights. */
async function ask(permits: Permits, method: string, path: string, init: RequestInit = {}, storage?: Storage) {
  const guard = guardBy(permits);
  const server = createFileServer({ storage: storage ?? memoryStorage(files), plugins: [guard] });
  onTestFinished(() => server.close());
  return server.fetch(new Request(`http://localhost${path}`, { method, redirect: "manual", ...init }));
}

/** Fails the request as soon as anything is looked up. */
const untouchable = new Proxy({} as Storage, {
  get: (_target, name) => {
    if (name === "start" || name === "close") return undefined;
    return () => {
      throw new Error(`the storage was touched: ${String(name)}`);
    };
  },
});

describe("who may do nothing", () => {
  const methods = ["GET", "HEAD", "PUT", "POST", "DELETE"];

  it.each(methods)("is refused %s before the storage is touched, elements or not", async (method) => {
    for (const headers of [{}, { range: "selector=p" }, { range: "bytes=0-1" }]) {
      const response = await ask(nobody, method, "/page.html", { headers }, untouchable);
      expect(response.status).toBe(401);
    }
  });
});

describe("the rights that are asked for", () => {
  it.each<[string, string, Right, string, Record<string, string>?]>([
    ["GET", "/page.html", "read", "/page.html"],
    ["HEAD", "/page.html", "read", "/page.html"],
    ["PUT", "/page.html", "overwrite", "/page.html"],
    ["PUT", "/new.html", "create", "/new.html"],
    ["POST", "/page.html", "append", "/page.html"],
    ["POST", "/dir/", "create", "/dir/new.txt", { "x-filename": "new.txt" }],
    ["POST", "/dir", "create", "/dir/new.txt", { "x-filename": "new.txt" }],
    ["DELETE", "/page.html", "delete", "/page.html"],
    ["DELETE", "/empty", "delete", "/empty/"],
    ["GET", "/dir/", "list", "/dir/"],
    ["GET", "/site/", "read", "/site/index.html"],
    ["GET", "/page.html", "read", "/page.html", { range: "selector=p" }],
    ["PUT", "/page.html", "overwrite", "/page.html", { range: "selector=p" }],
    ["POST", "/page.html", "append", "/page.html", { range: "selector=p" }],
    ["DELETE", "/page.html", "delete", "/page.html", { range: "selector=p" }],
    ["PUT", "/site/", "overwrite", "/site/index.html", { range: "selector=p" }],
  ])("for %s %s include %s on %s, without which it is refused", async (method, path, right, asked, headers = {}) => {
    // Where the index file may not be read, those who may list are shown the listing: so nobody may here.
    const without: Permits = (each, at) => each !== "list" && !(each === right && at === asked);
    const body = method.startsWith("P") ? "<b>new</b>" : null;
    const refused = await ask(without, method, path, { headers, body });
    const granted = await ask(everybody, method, path, { headers, body });
    expect([refused.status, await refused.text()]).toEqual([
      401,
      method === "HEAD" ? "" : expect.stringMatching("REFUSED"),
    ]);
    expect(granted.status).toBeLessThan(400);
    await granted.body?.cancel();
  });

  it("are those for the directory itself, however it is spelled", async () => {
    const asked = new Set<string>();
    const noting: Permits = (_right, path) => {
      asked.add(path);
      return path !== "/dir/";
    };
    expect((await ask(noting, "GET", "/dir")).status).toBe(401);
    expect((await ask(noting, "DELETE", "//x/../dir")).status).toBe(401);
    expect(asked).toEqual(new Set(["/dir", "/dir/"]));
  });

  it("are asked for with the canonical path", async () => {
    const asked = new Set<string>();
    const noting: Permits = (_right, path) => {
      asked.add(path);
      return true;
    };
    await ask(noting, "GET", "/%70age.html?x#y");
    expect(asked).toEqual(new Set(["/page.html"]));
  });

  it("say that selectors work only to those who may read", async () => {
    const ranges = async (permits: Permits) =>
      (await ask(permits, "OPTIONS", "/page.html")).headers.get("accept-ranges");
    expect([await ranges(only("read")), await ranges(only("delete"))]).toEqual(["selector, bytes", "bytes"]);
  });
});
