import fs, { readdir, readFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HostConfig } from "../../src/config.ts";
import { directory } from "../../src/plugins/directory.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import { exfatDisk, exfatNeeds } from "../helpers/exfat-disk.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const page = "<!doctype html><title>T</title><ul id=list></ul>";

describe("a server on a disk that ignores case", { tags: exfatNeeds }, () => {
  const directoryWith = exfatDisk();

  async function served(files: Readonly<Record<string, string>>, options: Partial<HostConfig> = {}) {
    const root = await directoryWith(files);
    const { url } = await serve({ root, protectedFiles: [join(root, "users.htpasswd")], ...options });
    return { root, request: (...request: [method: string, path: string, ...rest: [object?]]) => send(url, ...request) };
  }

  it("shows and changes no protected file under another name", async () => {
    const { root, request } = await served({ "/users.htpasswd": "alice:hash" });
    for (const path of ["/users.htpasswd", "/USERS.HTPASSWD", "/Users.HtPasswd"]) {
      expect((await request("GET", path)).status).toBe(404);
      expect((await request("PUT", path, { body: "eve:hash" })).status).toBe(403);
      expect((await request("DELETE", path)).status).toBe(404);
    }
    expect(await readFile(join(root, "users.htpasswd"), "utf8")).toBe("alice:hash");
  });

  it("edits a page as another program has left it within one tick of the disk's clock", async () => {
    const { root, request } = await served({ "/page.html": "<p id=a>1</p><p id=b>1</p>" });
    const headers = { range: "selector=#b" };
    expect((await request("GET", "/page.html", { headers })).text).toBe("<p id=b>1</p>");
    await fs.writeFile(join(root, "page.html"), "<p id=a>2</p><p id=b>1</p>");
    await request("PUT", "/page.html", { headers, body: "<p id=b>2</p>" });
    expect(await readFile(join(root, "page.html"), "utf8")).toBe("<p id=a>2</p><p id=b>2</p>");
  });

  it("judges by the name that was asked for and by the one that the disk lists", async () => {
    const rules = permissions({
      rules: [
        { username: "*", path: "/*", permission: "allow" },
        { username: "*", path: "/secret/*", permission: "deny" },
        { username: "*", path: "/OPEN/*", permission: "deny" },
      ],
    });
    const { request } = await served({ "/secret/a.html": page, "/open/a.html": page }, { plugins: [rules] });
    const statuses = async (path: string) =>
      Promise.all(["GET", "HEAD", "PUT", "POST", "DELETE"].map(async (method) => (await request(method, path)).status));
    expect(await statuses("/SECRET/a.html")).toEqual([401, 401, 401, 401, 401]);
    expect(await statuses("/OPEN/a.html")).toEqual([401, 401, 401, 401, 401]);
    expect((await request("GET", "/Secret/A.HTML", { headers: { range: "selector=title" } })).status).toBe(401);
    expect((await request("GET", "/Open/A.HTML", { headers: { range: "selector=title" } })).text).toContain("<title>T");
    expect((await request("POST", "/SECRET/", { headers: { "x-filename": "b.html" }, body: "x" })).status).toBe(401);
  });

  it("leads nobody around a plugin that covers a directory", async () => {
    const refusing = { name: "refuse", handle: () => ({ status: 402, headers: {} }) };
    const plugins = [directory({ directory: "/private", plugins: [refusing] })];
    const { request } = await served({ "/private/a.html": page }, { plugins });
    expect((await request("GET", "/private/a.html")).status).toBe(402);
    expect((await request("GET", "/PRIVATE/a.html")).status).toBe(404);
    expect((await request("PUT", "/PRIVATE/a.html", { body: "x" })).status).toBe(403);
  });

  it("takes all edits of a page under both of its names", async () => {
    const { root, request } = await served({ "/m.html": page });
    const edits = Array.from({ length: 60 }, (_, i) => {
      const edit = { headers: { range: "selector=#list" }, body: `<li>${i}</li>` };
      return request("POST", i % 2 === 0 ? "/m.html" : "/M.html", edit);
    });
    const statuses = (await Promise.all(edits)).map(({ status }) => status);
    expect(statuses).toEqual(Array(60).fill(206));
    expect((await readFile(join(root, "m.html"), "utf8")).match(/<li>/g)).toHaveLength(60);
  });

  it("writes and removes files by other spellings, and tells how they are spelled", async () => {
    const { root, request } = await served({ "/Docs/a.txt": "old" });
    const written = await request("PUT", "/docs/A.TXT", { body: "new" });
    expect([written.status, JSON.parse(written.text).path]).toEqual([200, "/Docs/a.txt"]);
    expect((await request("POST", "/DOCS/", { headers: { "x-filename": "A.txt" }, body: "x" })).status).toBe(409);
    expect((await request("GET", "/docs")).headers["location"]).toBe("/Docs/");
    expect(await readFile(join(root, "Docs/a.txt"), "utf8")).toBe("new");
    expect((await request("DELETE", "/DOCS/A.txt")).status).toBe(204);
    expect(await readdir(join(root, "Docs"))).toEqual([]);
  });
});

/** A disk that finds what is named `.git` by `GIT~1` as well, as those of Windows do. */
function withShortNames(): void {
  const originals = { ...fs };
  const calls = ["lstat", "stat", "open", "realpath", "opendir", "readdir", "rename", "unlink"] as const;
  for (const name of calls) {
    const original = fs[name] as (...values: unknown[]) => Promise<unknown>;
    const long = (value: unknown): unknown =>
      typeof value === "string" ? value.replace(/\bgit~1\b/gi, ".git") : value;
    Object.assign(fs, { [name]: (...values: unknown[]) => original(...values.map(long)) });
  }
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, originals);
    syncBuiltinESMExports();
  });
}

describe("a server on a disk that has short names", () => {
  it.each(["/GIT~1/config", "/git~1/config", "/GIT~1/"])("has nothing at %s", async (path) => {
    const root = await temporaryDirectory({ ".git/config": "[core]" });
    withShortNames();
    const { url } = await serve({ root });
    expect((await send(url, "GET", path)).status).toBe(404);
    expect((await send(url, "DELETE", path)).status).toBe(403);
    expect((await send(url, "PUT", "/GIT~1/hooks.txt", { body: "x" })).status).toBe(403);
    expect(await readdir(join(root, ".git"))).toEqual(["config"]);
  });
});
