import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskStorage } from "../../src/storage/disk/disk-storage.ts";
import type { Answer } from "../helpers/send.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk, storages, type TestSite, testSite } from "../helpers/test-site.ts";

const codeOf = ({ text }: Answer): unknown => JSON.parse(text).code;
const json = { headers: { accept: "application/json" } };

async function listed(site: TestSite, path: string): Promise<string[]> {
  const { text } = await site.send("GET", path, json);
  return JSON.parse(text).entries.map(({ name }: { name: string }) => name);
}

/** Reads are 404 and writes 403, whether anything is there or not; and nothing changes. */
async function expectHidden(site: TestSite, path: string): Promise<void> {
  const before = await site.everything();
  for (const method of ["GET", "OPTIONS"]) {
    const answer = await site.send(method, path);
    expect([method, path, answer.status, codeOf(answer)]).toEqual([method, path, 404, "NOT_FOUND"]);
  }
  expect(await site.send("HEAD", path)).toMatchObject({ status: 404, text: "" });
  for (const method of ["PUT", "POST", "DELETE"]) {
    const answer = await site.send(method, path, { body: "x", headers: { "x-filename": "new.txt" } });
    expect([method, path, answer.status, codeOf(answer)]).toEqual([method, path, 403, "FORBIDDEN_PATH"]);
  }
  expect([await site.everything(), site.changes]).toEqual([before, []]);
}

describe.each(storages)("hidden names $where", ({ make }) => {
  const dotfiles = `
    /.env /.git/config /.git/ /.git /%2eenv /dir/.htaccess /dir/.well-known/x.txt /.Well-Known/x.txt
    /.well-knownx/x.txt /..x /... /x/.git/../.env /.well-known/../.env`
    .trim()
    .split(/\s+/);

  it("do not exist", async () => {
    const files = Object.fromEntries(dotfiles.slice(0, 9).map((each) => [decodeURIComponent(each), "secret"]));
    const { "/.git/": _directory, "/.git": _same, ...rest } = files;
    const site = await testSite(await make(rest));
    for (const path of [...dotfiles, "/.missing", "/dir/.missing/"]) await expectHidden(site, path);
  });

  it("do not exist for selectors either", async () => {
    const site = await testSite(await make({ "/.page.html": "<p>secret</p>" }));
    const headers = { range: "selector=p" };
    expect((await site.send("GET", "/.page.html", { headers })).status).toBe(404);
    for (const method of ["PUT", "POST", "DELETE"]) {
      expect((await site.send(method, "/.page.html", { headers, body: "<p>x</p>" })).status).toBe(403);
    }
    expect(await site.textAt("/.page.html")).toBe("<p>secret</p>");
  });

  it("are left out of listings", async () => {
    const files = { "/a.txt": "a", "/.env": "secret", "/.git/config": "secret", "/nul": "", "/a.txt:b": "", "/b.": "" };
    const site = await testSite(await make(files));
    expect(await listed(site, "/")).toEqual(["a.txt"]);
  });

  it("do not count where a directory below /.well-known is meant", async () => {
    const site = await testSite(await make({ "/.well-known/security.txt": "contact" }));
    expect(await site.send("GET", "/.well-known/security.txt")).toMatchObject({ status: 200, text: "contact" });
    expect(await site.send("GET", "/.well-known")).toMatchObject({ status: 301 });
    expect(await listed(site, "/.well-known/")).toEqual(["security.txt"]);
    expect((await site.send("PUT", "/.well-known/acme-challenge/token", { body: "t" })).status).toBe(201);
    expect((await site.send("DELETE", "/.well-known/security.txt")).status).toBe(204);
  });

  it('are files like others with `dotfiles: "allow"`', async () => {
    const site = await testSite(await make({ "/.env": "a=b", "/.git/config": "c" }), { dotfiles: "allow" });
    expect(await site.send("GET", "/.env")).toMatchObject({ status: 200, text: "a=b" });
    expect((await site.send("PUT", "/.new/.x", { body: "x" })).status).toBe(201);
    expect(await listed(site, "/")).toEqual([".git", ".new", ".env"]);
  });

  it.each(["ignore", "allow"] as const)(
    "are on every platform the server's temporary files, devices and streams, with dotfiles %s",
    async (option) => {
      const temporary = "/.filement-0a1b2c3d-1-00ff.tmp";
      const site = await testSite(await make({ "/a.txt": "a", "/dir/b.txt": "b" }), { dotfiles: option });
      const paths = [
        temporary,
        temporary.toUpperCase(),
        `/dir${temporary}`,
        `${temporary}/x`,
        ...`
        /nul /NUL.txt /con/a.txt /dir/Aux.html /prn /COM1 /lpt9.txt /com%C2%B9 /CONIN$ /a.txt. /a.txt%20 /dir./b.txt
        /a.txt::$DATA /a.txt:stream /C:/windows /dir:$i30:$INDEX_ALLOCATION/`
          .trim()
          .split(/\s+/),
      ];
      for (const path of paths) await expectHidden(site, path);
    },
  );

  it.each(["/conference.txt", "/nullable", "/com10", "/a.b.txt", "/ a.txt", "/aux-file", "/filement-1.tmp"])(
    "do not include %s",
    async (path) => {
      const site = await testSite(await make());
      const target = path.replace(" ", "%20");
      expect((await site.send("PUT", target, { body: "text" })).status).toBe(201);
      expect(await site.send("GET", target)).toMatchObject({ status: 200, text: "text" });
    },
  );
});

/** A site in `site`, beside `secret.txt` and `old/`; `links` are symbolic links in it. */
async function linked(links: Readonly<Record<string, string>>, symlinks: "within-root" | "never" = "within-root") {
  const around = await temporaryDirectory();
  const { everything } = await onDisk(around, {
    "/secret.txt": "secret",
    "/site-old/page.html": "<p>secret</p>",
    "/site/a.txt": "a",
    "/site/page.html": "<p>page</p>",
    "/site/dir/b.txt": "b",
  });
  for (const [name, target] of Object.entries(links)) await symlink(target, join(around, "site", name));
  const site = await testSite({ storage: diskStorage(join(around, "site"), { symlinks }), everything });
  return { around, site };
}

describe("symbolic links out of the root", () => {
  const links = {
    "file.txt": "../secret.txt",
    "page.htm": "../site-old/page.html",
    up: "..",
    beside: "../site-old",
    etc: "/etc",
    chain: "up",
    new: "../new.txt",
    loop: "loop",
    "dir/index.html": "../../secret.txt",
    "dir/deep": "../../site-old",
  };
  const targets = `
    /file.txt /page.htm /up/ /up /up/secret.txt /up/site/a.txt/../../secret.txt /beside/page.html /etc/passwd
    /chain/secret.txt /chain/site-old/page.html /new /loop /loop/x /dir/index.html /dir/deep/page.html`
    .trim()
    .split(/\s+/);

  it.each(targets)("lead to nothing for reads: %s", async (target) => {
    const { site } = await linked(links);
    const answer = await site.send("GET", target);
    expect([answer.status, codeOf(answer)]).toEqual([404, "NOT_FOUND"]);
    expect((await site.send("HEAD", target)).status).toBe(404);
    expect((await site.send("GET", target, { headers: { range: "selector=p" } })).status).toBe(404);
  });

  it.each(targets)("are no way to write: %s", async (target) => {
    const { site, around } = await linked(links);
    const before = await site.everything();
    const put = await site.send("PUT", target.replace(/\/$/, ""), { body: "evil" });
    expect([put.status, codeOf(put)]).toEqual([403, "FORBIDDEN_PATH"]);
    const post = await site.send("POST", target, { body: "evil", headers: { "x-filename": "new.txt" } });
    expect([post.status, codeOf(post)]).toEqual([404, "NOT_FOUND"]); // as where nothing is: there is nothing to append to
    expect([await site.everything(), site.changes]).toEqual([before, []]);
    expect(await readFile(join(around, "secret.txt"), "utf8")).toBe("secret");
  });

  it("are not listed, and an index that is one does not count", async () => {
    const { site } = await linked(links);
    expect(await listed(site, "/")).toEqual(["dir", "a.txt", "page.html"]);
    const { status, text } = await site.send("GET", "/dir/");
    expect([status, text.includes("secret")]).toEqual([200, false]);
    expect(await listed(site, "/dir/")).toEqual(["b.txt"]);
  });

  it("never let DELETE reach what they lead to", async () => {
    const { site, around } = await linked(links);
    for (const target of targets) expect((await site.send("DELETE", target)).status).toBe(404);
    expect(await readFile(join(around, "secret.txt"), "utf8")).toBe("secret");
    expect(await readFile(join(around, "site-old/page.html"), "utf8")).toBe("<p>secret</p>");
  });
});

describe("symbolic links within the root", () => {
  const links = { "b.txt": "a.txt", other: "dir", "copy.html": "page.html" };

  it("are followed for files, directories and elements, to read and to write", async () => {
    const { site } = await linked(links);
    expect(await site.send("GET", "/b.txt")).toMatchObject({ status: 200, text: "a" });
    expect(await site.send("GET", "/other/b.txt")).toMatchObject({ status: 200, text: "b" });
    expect((await site.send("PUT", "/b.txt", { body: "new" })).status).toBe(200);
    expect(await site.textAt("/a.txt")).toBe("new");
    const headers = { range: "selector=p" };
    expect((await site.send("PUT", "/copy.html", { headers, body: "<p>new</p>" })).status).toBe(206);
    expect(await site.textAt("/page.html")).toBe("<p>new</p>");
  });

  it('are not followed with `symlinks: "never"`', async () => {
    const { site } = await linked(links, "never");
    for (const target of ["/b.txt", "/other/", "/other/b.txt", "/copy.html"]) {
      expect((await site.send("GET", target)).status).toBe(404);
      expect((await site.send("PUT", target.replace(/\/$/, ""), { body: "x" })).status).toBe(403);
    }
    expect(await site.send("GET", "/a.txt")).toMatchObject({ status: 200, text: "a" });
    expect(await listed(site, "/")).toEqual(["dir", "a.txt", "page.html"]);
  });
});
