import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { fileHandler } from "../../src/plugins/file-handler.ts";
import { guard } from "../../src/plugins/guard.ts";
import { healthCheck } from "../../src/plugins/health-check.ts";
import { type HistoryOptions, history } from "../../src/plugins/history.ts";
import { metrics } from "../../src/plugins/metrics.ts";
import { permissions } from "../../src/plugins/permissions.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { endless } from "../helpers/counted-work.ts";
import { deferred } from "../helpers/deferred.ts";
import { timesOf } from "../helpers/effort.ts";
import { fastClock } from "../helpers/fast-clock.ts";
import { failAt } from "../helpers/faulty-disk.ts";
import { listen, openSocket } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

beforeEach(() => fastClock());

/** Signs in who says a name, as a program around the server would. */
const signIn = permissions({
  user: ({ headers }) => (headers["x-user"] ? { name: String(headers["x-user"]), roles: [] } : undefined),
  rules: [
    { username: "*", path: "/*", permission: "allow" },
    { username: "*", path: "/private/*", permission: "deny" },
    { username: "*", path: "/staff.html", selector: ".salary", permission: "deny" },
    { username: "ada", path: "/*", permission: "allow" },
    { username: "ada", path: "/private/*", permission: "allow" },
    { username: "ada", path: "/staff.html", selector: ".salary", permission: "allow" },
  ],
});

type Site = Awaited<ReturnType<typeof site>>;

async function site({
  before = {},
  plugins = [],
  handlers = [],
  directory,
  config = {},
  ...options
}: Partial<HistoryOptions> & {
  before?: Record<string, string>;
  plugins?: readonly Plugin[];
  handlers?: readonly Plugin[];
  directory?: string;
  config?: Partial<FileServerConfig>;
} = {}) {
  const at = directory ?? (await temporaryDirectory());
  const [root, repository] = [join(at, "site"), join(at, "site.git")];
  await mkdir(root, { recursive: true });
  for (const [name, content] of Object.entries(before)) await writeFile(join(root, name), content);
  const errors: unknown[] = [];
  const files = createFileServer({
    root,
    durability: "rename",
    plugins: [...plugins, history({ repository, ...options }), ...handlers],
    onError: (error) => errors.push(error),
    ...config,
  });
  onTestFinished(() => files.close().catch(() => {}));
  await files.ready();
  const git = (...args: string[]): string =>
    execFileSync("git", ["--git-dir", repository, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  async function send(method: string, path: string, body?: string, headers: Record<string, string> = {}) {
    const init = { method, headers, ...(body !== undefined && { body }) };
    const response = await files.fetch(new Request(`http://localhost${path}`, init));
    return { status: response.status, text: await response.text(), headers: response.headers };
  }
  return {
    ...{ files, root, repository, errors, git, send },
    /** The first lines of all commits, oldest first. */
    subjects: () => git("log", "--reverse", "--format=%s").trimEnd().split("\n"),
    /** The commits that history lists for a file, newest first. */
    async versionsOf(path: string, headers: Record<string, string> = {}): Promise<readonly string[]> {
      const { text } = await send("GET", `/history${path}`, undefined, headers);
      return JSON.parse(text).versions.map(({ commit }: { commit: string }) => commit);
    },
    /** Resolves when so many commits are there. */
    async commits(count: number) {
      let [known, found] = ["", 0];
      const counted = async (): Promise<number> => {
        const read = (name: string) => readFile(join(repository, name), "utf8");
        const tip = await read("refs/heads/main").catch(() => read("packed-refs").catch(() => ""));
        if (tip !== known) found = Number(trying(() => git("rev-list", "--count", "main")));
        known = tip;
        return found;
      };
      await expect.poll(counted).toBe(count);
    },
  };
}

/** A site with two commits: git tidies up after the first, and one git makes all commits from then on. */
async function tidiedSite(): Promise<Site> {
  const made = await site({ before: { "a.txt": "1" } });
  await made.commits(1);
  await made.send("PUT", "/a.txt", "2");
  await made.commits(2);
  return made;
}

/** Signals the processes of git that work on a repository, and gives their number; some end by themselves meanwhile. */
async function signalGits(repository: string, signal: NodeJS.Signals | 0): Promise<number> {
  let count = 0;
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    if (command.split("\0").includes(repository))
      count += Number(trying(() => `${+process.kill(Number(pid), signal)}`));
  }
  return count;
}

function trying(run: () => string): string {
  try {
    return run();
  } catch {
    return "0";
  }
}

const page = "<ul>\n<li id=a>one</li>\n<li>\n<li>\n<li id=b>two</li>\n</ul>\n";

describe("history", () => {
  it("makes each change a commit that says who did what, and existing files the first ones", async () => {
    const { send, git, commits, files } = await site({ before: { "old.txt": "was here\n" }, plugins: [signIn] });
    await commits(1);
    await send("PUT", "/page.html", page, { "x-user": "ada", "x-request-id": "first" });
    await send("PUT", "/page.html", "<li id=b>2</li>", { range: "selector=#b" });
    await send("PUT", "/log.txt", "a\n");
    await send("POST", "/log.txt", "b\n");
    await send("DELETE", "/log.txt");
    await files.edit("/page.html", [{ op: "setText", selector: "#a", text: "1" }], { user: "grace" });
    await commits(7);
    const said = git("log", "--reverse", "--format=%an <%ae> %s").replaceAll("anonymous <anonymous@localhost> ", "");
    expect(said.trim().split("\n")).toEqual([
      ...["Found /old.txt", "ada <ada@localhost> PUT /page.html", "PUT #b in /page.html", "PUT /log.txt"],
      ...["POST /log.txt", "DELETE /log.txt", "grace <grace@localhost> PATCH /page.html"],
    ]);
    expect(git("show", "main~2:log.txt")).toBe("a\nb\n");
    expect(git("show", "main:page.html")).toBe("<ul>\n<li id=a>1</li>\n<li>\n<li>\n<li id=b>2</li>\n</ul>\n");
    expect(git("log", "--format=%(trailers:key=Request-Id,valueonly)", "main~5", "-1").trim()).toBe("first");
    expect(git("log", "--format=%(trailers:key=Selector,valueonly)", "main~4", "-1").trim()).toBe("#b");
    await files.close();
    expect(git("fsck", "--strict")).toBe("");
  });

  it("has what a file was before its first change, also where that comes before existing files are recorded", async () => {
    const listed = deferred();
    const stored = memoryStorage({ "/a.txt": "old", "/b.html": "<p>old", "/c.txt": "old" });
    const storage: Storage = {
      ...stored,
      async *list(path) {
        await listed.promise;
        yield* stored.list(path);
      },
    };
    const { files, git, send, commits, subjects } = await site({ config: { root: undefined, storage } });
    await send("PUT", "/a.txt", "new");
    await files.edit("/b.html", [{ op: "setText", selector: "p", text: "new" }]);
    await send("DELETE", "/c.txt");
    await send("PUT", "/a.txt", "newer");
    await commits(7); // beside the look at all files
    listed.resolve();
    expect(subjects()).toEqual([
      ...["Found /a.txt", "PUT /a.txt", "Found /b.html", "PATCH /b.html", "Found /c.txt", "DELETE /c.txt"],
      "PUT /a.txt",
    ]);
    expect(git("show", "main~6:a.txt")).toBe("old");
  });

  it("has the files that handlers keep below paths, also of one storage", async () => {
    const storage = memoryStorage({ "/a/b.txt": "1" });
    const handlers = ["/docs/de", "/docs/en"].map((at) => fileHandler({ at, storage }));
    const { commits, subjects, errors } = await site({ handlers, config: { root: undefined } });
    await commits(2);
    expect([subjects().sort(), errors]).toEqual([["Found /docs/de/a/b.txt", "Found /docs/en/a/b.txt"], []]);
  });

  it("goes on where it ended, and notes what was changed meanwhile", async () => {
    const directory = await temporaryDirectory();
    const first = await site({ directory, before: { "kept.txt": "k", "gone.txt": "g" } });
    await first.send("PUT", "/a.txt", "1");
    await first.commits(3);
    await first.files.close();
    await writeFile(join(first.root, "a.txt"), "2");
    await utimes(join(first.root, "a.txt"), new Date(-1), new Date(-1)); // git has no such date
    await rm(join(first.root, "gone.txt"));
    const second = await site({ directory });
    await second.commits(5);
    await second.files.close();
    expect(second.subjects().slice(-2).sort()).toEqual(["Found /a.txt", "Missed /gone.txt"]);
    expect([second.git("show", "main:a.txt"), second.git("fsck", "--strict")]).toEqual(["2", ""]);
  });

  it("works in a repository whose names are SHA-256", async () => {
    const directory = await temporaryDirectory();
    execFileSync("git", ["init", "-q", "--bare", "--object-format=sha256", "-b", "main", join(directory, "site.git")]);
    const first = await site({ directory, before: { "page.html": page } });
    await first.send("PUT", "/page.html", "<li id=b>2</li>", { range: "selector=#b" });
    await first.files.close();
    const { send, git, commits, files, versionsOf } = await site({ directory });
    const [changed] = await versionsOf("/page.html");
    expect(changed).toHaveLength(64);
    const past = `/history/page.html/${changed}`;
    expect((await send("GET", past, undefined, { range: "selector=#b" })).text).toBe("<li id=b>2</li>");
    expect((await send("GET", `${past}/changes`)).text).toContain("+<li id=b>2</li>");
    expect((await send("POST", past, "")).status).toBe(200);
    expect((await send("GET", "/page.html")).text).toBe(page);
    await commits(3); // and none for the file as it was found again
    await files.close();
    expect(git("fsck", "--strict")).toBe("");
  });

  it("forgets what is older than is to be kept, and goes on", async () => {
    const first = await site();
    for (let n = 1; n <= 6; n += 1) await first.send("PUT", "/a.txt", `${n}`);
    await first.send("PUT", "/b.txt", "b");
    await first.files.close();
    expect(first.errors).toEqual([]);
    const forgotten = first.git("rev-parse", "main~4").trim();
    const later = await site({ directory: join(first.root, ".."), keepCommits: 3 });
    const { git, send, commits, versionsOf } = later;
    await commits(3);
    expect(later.subjects()).toEqual(["PUT /a.txt", "PUT /a.txt", "PUT /b.txt"]);
    expect(git("cat-file", "-p", "main~2:a.txt")).toBe("5");
    await expect.poll(() => trying(() => git("cat-file", "-t", forgotten))).toBe("0");
    await send("PUT", "/a.txt", "7");
    await commits(4);
    expect(await versionsOf("/a.txt")).toHaveLength(3);
    expect((await send("GET", `/history/a.txt/${forgotten}`)).status).toBe(404);
    expect(git("fsck", "--strict")).toBe("");
  });

  it("keeps hostile names, users and selectors in their places", async () => {
    const { send, git, commits } = await site({ plugins: [signIn] });
    const name = `/a"b 'd' \u00e9 --help $(x).html`;
    await send("PUT", encodeURI(name), page, { "x-user": "eve <e@x> \\ commit" });
    await send("PUT", encodeURI(name), "<li id=a>x</li>", { range: "selector=%23a%2C%0Afrom%20x" });
    await send("PUT", encodeURI(name), "<li id=a>x</li>", { range: 'selector=[id="a"]' });
    await commits(3);
    expect(git("-c", "core.quotePath=false", "ls-tree", "--name-only", "-z", "main")).toBe(`${name.slice(1)}\0`);
    expect(git("log", "--format=%an|%s", "--reverse").split("\n")[0]).toBe(`eve  e@x  \\ commit|PUT ${name}`);
  });

  it("does not start where there can be no repository", async () => {
    await expect(site({ repository: "/dev/null/x" })).rejects.toThrow();
  });

  it.each([
    ["git could not be started", undefined],
    ["git is 2.30: expected 2.36 or newer", "git version 2.30.9"],
  ])("does not start where %s", { tags: ["bash"] }, async (message, version) => {
    const programs = await temporaryDirectory();
    if (version) await writeFile(join(programs, "git"), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
    vi.stubEnv("PATH", programs);
    await expect(site({}).finally(() => vi.unstubAllEnvs())).rejects.toThrow(message);
  });

  it("hides a repository below the root", async () => {
    const at = await temporaryDirectory();
    const { send } = await site({ directory: at, repository: join(at, "site", "history.git") });
    await send("PUT", "/a.txt", "a");
    expect((await send("GET", "/history.git/HEAD")).status).toBe(404);
    expect((await send("PUT", "/history.git/HEAD", "x")).status).toBe(403);
  });

  it("has no history of what paths and ignore leave out", async () => {
    const { send, subjects, commits } = await site({ paths: ["/docs/*"], ignore: ["/docs/*.log"] });
    for (const path of ["/a.txt", "/docs/b.log", "/docs/c.txt"]) await send("PUT", path, "x");
    await commits(1);
    expect(subjects()).toEqual(["PUT /docs/c.txt"]);
    expect((await send("GET", "/history/a.txt")).status).toBe(404);
  });

  it("lets listings begin where a storage can", async () => {
    const stored = memoryStorage({ "/a.txt": "a", "/b.txt": "b" });
    const begun: unknown[] = [];
    const list: Storage["list"] = (path, after) => {
      begun.push(after?.name);
      return stored.list(path);
    };
    const { send } = await site({ config: { root: undefined, storage: { ...stored, list, listsInOrder: true } } });
    await send("GET", "/?by=key&limit=1&after=a.txt", undefined, { accept: "application/json" });
    expect(begun).toContain("a.txt");
  });

  it("makes the commits later where the repository was away", async () => {
    const { send, repository, errors, commits } = await site({ plugins: [healthCheck({ cacheTime: 0 })] });
    await send("PUT", "/a.txt", "1");
    await commits(1);
    await rename(repository, `${repository}.away`);
    await mkdir(join(repository, "refs"), { recursive: true }); // as a git does that ends just then
    expect((await send("PUT", "/a.txt", "2")).status).toBe(200);
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    const { status, text } = await send("GET", "/health");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ status: "degraded", checks: { history: "failing" } });
    await rm(repository, { recursive: true, force: true });
    await rename(`${repository}.away`, repository);
    await send("PUT", "/a.txt", "3");
    await commits(3);
  });

  it.each(["goes on", "is killed"])(
    "answers while git is stopped, and makes the commits once it %s",
    { tags: ["procfs"] },
    async (what) => {
      const { send, repository, commits, git, files, subjects } = await tidiedSite();
      await signalGits(repository, "SIGSTOP");
      for (let n = 3; n <= 20; n += 1) expect((await send("PUT", "/a.txt", `${n}`)).status).toBe(200);
      expect(git("show", "main:a.txt")).toBe("2");
      await signalGits(repository, what === "goes on" ? "SIGCONT" : "SIGKILL");
      await commits(20);
      await files.close();
      expect(subjects().slice(1)).toEqual(Array(19).fill("PUT /a.txt"));
      expect(git("fsck", "--strict", "--no-dangling")).toBe("");
    },
  );

  it("ends a git that is silent for a minute, and makes its commits by another", { tags: ["procfs"] }, async () => {
    const { send, repository, commits, errors } = await tidiedSite();
    fastClock(40);
    // Between two commits there may be no git to stop.
    for (let n = 3; errors.length === 0 && n < 10; n += 1) {
      await signalGits(repository, "SIGSTOP");
      await send("PUT", "/a.txt", `${n}`);
      await commits(n);
    }
    expect(errors.map(String)).toEqual([expect.stringContaining("commits cannot be made")]);
  });

  it("has no git while nothing happens for two minutes, and another for what comes", { tags: ["procfs"] }, async () => {
    fastClock(60);
    const { send, repository, commits } = await tidiedSite();
    await expect.poll(() => signalGits(repository, 0)).toBe(0);
    await send("PUT", "/a.txt", "3");
    await commits(3);
    expect(JSON.parse((await send("GET", "/history/a.txt")).text).versions).toHaveLength(3);
  });

  it("keeps what it has answered in memory while the disk is full, and says so", { tags: ["mounts"] }, async () => {
    const directory = await temporaryDirectory();
    const disk = join(directory, "site.git");
    await mkdir(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]);
    onTestFinished(() => void execFileSync("umount", ["--lazy", disk]));
    const { send, errors, commits, git, files } = await site({ directory, plugins: [healthCheck({ cacheTime: 0 })] });
    await send("PUT", "/a.txt", "1");
    await commits(1);
    await expect(writeFile(join(disk, "filling"), Buffer.alloc(2 ** 20))).rejects.toThrow("ENOSPC");
    for (const n of [2, 3, 4]) expect((await send("PUT", "/a.txt", `${n}`.repeat(5000))).status).toBe(200);
    expect(errors.length).toBeGreaterThan(0);
    expect(JSON.parse((await send("GET", "/health")).text).status).toBe("degraded");
    await rm(join(disk, "filling"));
    await commits(4);
    expect([2, 1, 0].map((back) => git("show", `main~${back}:a.txt`)[0])).toEqual(["2", "3", "4"]);
    await files.close();
    expect(git("fsck", "--strict", "--no-dangling")).toBe("");
  });

  it("has every answered change once, in order, whichever system call of the spool fails", async () => {
    for (let step = 1; step <= 60; step += timesOf(19, 1)) {
      const made = await site({ config: { root: undefined, storage: memoryStorage() } });
      const { send, files, git, commits } = made;
      const disk = await failAt(step, step % 2 === 0 ? "EIO" : "ENOSPC");
      onTestFinished(() => disk.mend());
      await send("PUT", "/a.txt", "1");
      await send("POST", "/a.txt", "2");
      await send("PUT", "/b.txt", "3");
      await send("DELETE", "/b.txt");
      await expect.poll(() => disk.failed).toBeDefined();
      disk.mend();
      await send("PUT", "/c.txt", "4");
      await commits(5);
      await files.close();
      const expected = ["PUT /a.txt", "POST /a.txt", "PUT /b.txt", "DELETE /b.txt", "PUT /c.txt"];
      const done = [disk.failed, made.subjects(), git("show", "main:a.txt")];
      expect(done).toEqual([disk.failed, expected, "12"]);
    }
  });

  it("refuses changes beyond what may wait, where it is required, until git works again", async () => {
    const required = { required: true, maxBacklog: 1 };
    const { send, repository, errors, commits } = await site({ ...required, plugins: [metrics()] });
    await send("PUT", "/a.txt", "1");
    await commits(1);
    const lock = join(repository, "refs/heads/main.lock"); // of another git
    await writeFile(lock, "");
    const other = await site({ ...required, directory: join(repository, "..") });
    let last = 200;
    await expect.poll(async () => (last = (await send("PUT", "/a.txt", "more than a byte")).status)).toBe(503);
    expect([last, errors.length > 0]).toEqual([503, true]);
    expect((await send("GET", "/metrics")).text).toMatch(/^history_backlog_bytes [1-9]/m);
    // The second server does not make the commits, and hears of it.
    await expect.poll(async () => (await other.send("PUT", "/b.txt", "b")).status).toBe(503);
    await rm(lock);
    await expect.poll(async () => (await send("PUT", "/a.txt", "2")).status).toBe(200);
    await expect.poll(async () => (await other.send("PUT", "/b.txt", "b")).status).toBeLessThan(300);
  });
});

describe("versions over HTTP", () => {
  async function edited(config: Partial<FileServerConfig> = {}) {
    const made = await site({ config });
    await made.send("PUT", "/page.html", page);
    await made.send("PUT", "/page.html", "<li id=b>2</li>", { range: "selector=#b" });
    await made.send("PUT", "/page.html", "<li id=a>1</li>", { range: "selector=#a" });
    await made.commits(3);
    const [last = "", second = "", first = ""] = await made.versionsOf("/page.html");
    return { ...made, last, second, first };
  }

  it("are listed newest first, as JSON, as links and as a page", async () => {
    const { send } = await edited({ extensions: [".html"] });
    const { text } = await send("GET", "/history/page.html");
    const said = JSON.parse(text).versions.map((each: Record<string, string>) => `${each["size"]}: ${each["summary"]}`);
    expect(said).toEqual(["53: PUT #a in /page.html", "55: PUT #b in /page.html", "57: PUT /page.html"]);
    const links = await send("GET", "/history/page.html", undefined, { accept: "application/link-format" });
    expect(links.headers.get("content-type")).toBe("application/link-format");
    expect(links.text.match(/rel="memento"; datetime="/g)).toHaveLength(3);
    const html = await send("GET", "/history/page.html", undefined, { accept: "text/html" });
    expect(html.text).toContain("<h1>History of /page.html</h1>");
    expect((await send("GET", "/history/", undefined)).text).toContain("PUT #a in /page.html");
    expect((await send("GET", "/history/none.html")).status).toBe(404);
    expect((await send("GET", "/history/page")).text).toBe(text);
  });

  it("are read as the file was, with tags, ranges and selectors", async () => {
    const { send, first } = await edited();
    const past = await send("GET", `/history/page.html/${first}`);
    expect([past.status, past.text]).toEqual([200, page]);
    expect(past.headers.get("memento-datetime")).toMatch(/GMT$/);
    expect(past.headers.get("link")).toContain('</page.html>; rel="original timegate latest-version"');
    const etag = past.headers.get("etag") ?? "";
    expect((await send("GET", `/history/page.html/${first}`, undefined, { "if-none-match": etag })).status).toBe(304);
    const elements = await send("GET", `/history/page.html/${first}`, undefined, { range: "selector=#b" });
    expect([elements.status, elements.text]).toEqual([206, "<li id=b>two</li>"]);
    const bytes = await send("GET", `/history/page.html/${first}`, undefined, { range: "bytes=0-3" });
    expect([bytes.status, bytes.text]).toEqual([206, "<ul>"]);
    expect((await send("PUT", `/history/page.html/${first}`, "x")).status).toBe(405);
    expect((await send("GET", `/history/page.html/${"0".repeat(40)}`)).status).toBe(404);
  });

  it("are found by Accept-Datetime (RFC 7089), at each path that leads to the file", async () => {
    const { send, first } = await edited({ index: "page.html", extensions: [".html"] });
    for (const path of ["/page.html", "/page", "/"]) {
      const original = await send("GET", path);
      expect(original.headers.get("link")).toBe('</history/page.html>; rel="timemap version-history"');
      expect(original.headers.get("vary")).toMatch(/accept-datetime/i);
      const early = await send("GET", path, undefined, { "accept-datetime": "Sat, 01 Jan 2000 00:00:00 GMT" });
      expect(early.headers.get("location")).toBe(`/history/page.html/${first}`);
    }
    expect((await send("GET", "/page.html", undefined, { "accept-datetime": "soon" })).status).toBe(400);
    expect((await send("GET", "/.well-known/filement/listing.js")).headers.get("link")).toBeNull();
  });

  it("are found by the moment, at ten of them", async () => {
    const minute = (n: number): Date => new Date(Date.UTC(2026, 0, 1) + n * 60_000);
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const { send, commits } = await site();
    for (let n = 0; n < 10; n += 1) {
      vi.setSystemTime(minute(n));
      await send("PUT", "/page.html", `<p>${n}</p>`);
    }
    await commits(10);
    for (let n = 0; n < 10; n += 1) {
      const gate = await send("GET", "/page.html", undefined, { "accept-datetime": minute(n + 0.9).toUTCString() });
      const { text, headers } = await send("GET", gate.headers.get("location") ?? "");
      const found = [gate.status, text, headers.get("memento-datetime")];
      expect(found).toEqual([302, `<p>${n}</p>`, minute(n).toUTCString()]);
    }
  });

  it("are compared as a diff and as a page", async () => {
    const { send, second } = await edited();
    const diff = await send("GET", `/history/page.html/${second}/changes`);
    expect(diff.headers.get("content-type")).toBe("text/x-diff; charset=utf-8");
    expect(diff.text).toBe(
      "--- a/page.html\n+++ b/page.html\n@@ -2,5 +2,5 @@\n <li id=a>one</li>\n <li>\n <li>\n-<li id=b>two</li>\n+<li id=b>2</li>\n </ul>\n",
    );
    const html = await send("GET", `/history/page.html/${second}/changes`, undefined, { accept: "text/html" });
    expect(html.text).toMatch(/<table[^>]*><caption>.*<del>&lt;li id=b&gt;two&lt;\/li&gt;<\/del>/s);
    expect(html.text).toContain("<button>Undo this change</button>");
    vi.stubEnv("TMPDIR", "/dev/null"); // as in a container that may only be read
    onTestFinished(() => void vi.unstubAllEnvs());
    expect((await send("GET", `/history/page.html/${second}/changes`)).text).toBe(diff.text);
  });

  it("are shown in part where very many lines changed, and not compared where there are too many", async () => {
    const numbers = (step: number) => Array.from({ length: 3000 }, (_, line) => `${step * line}\n`).join("");
    const { send, commits, versionsOf } = await site({ before: { "a.txt": numbers(1), "b.txt": endless("\n") } });
    await commits(2);
    for (const [path, content] of [["/a.txt", numbers(-2)] as const, ["/b.txt", endless("b\n")] as const])
      await send("PUT", path, content);
    await commits(4);
    const changesOf = async (path: string, accept: string) =>
      send("GET", `/history${path}/${(await versionsOf(path))[0]}/changes`, undefined, { accept });
    const { text } = await changesOf("/a.txt", "text/html");
    expect(text.match(/<tr><td/g)).toHaveLength(2 * 2000); // and as many of what undoing changes
    for (const shown of [text, (await changesOf("/b.txt", "text/html")).text])
      expect(shown).toContain("More lines changed than are shown here.");
    expect((await changesOf("/a.txt", "text/x-diff")).text.match(/^[-+]/gm)).toHaveLength(2 + 2 * 2999);
    expect((await changesOf("/b.txt", "text/x-diff")).text).toContain("RESULT_TOO_LARGE");
    const [commit] = await versionsOf("/b.txt");
    await send("PUT", "/b.txt", "c");
    expect((await send("POST", `/history/b.txt/${commit}`, "")).text).toContain("too many lines");
  });

  it("are held for a few clients that do not read them, and refused to more", async () => {
    const { files, commits, versionsOf } = await site({ before: { "a.txt": "x".repeat(16 * 1024 * 1024) } });
    await commits(1);
    const [commit] = await versionsOf("/a.txt");
    const port = await listen(createServer(files));
    const statuses: string[] = [];
    for (const part of ["", "", "", "", "", "/changes"]) {
      const socket = await openSocket(port);
      const accept = "Accept: text/html";
      socket.write(`GET /history/a.txt/${commit}${part} HTTP/1.1\r\nHost: localhost\r\n${accept}\r\n\r\n`);
      const [head] = await once(socket, "data");
      socket.pause();
      statuses.push(head.toString("latin1", 9, 12));
    }
    expect(statuses).toEqual(["200", "200", "200", "200", "503", "503"]);
  });

  it("are undone one by one, and by a commit of its own", async () => {
    const { send, git, commits, second, first } = await edited();
    const undone = await send("POST", `/history/page.html/${second}`, "");
    expect(undone.status).toBe(200);
    expect((await send("GET", "/page.html")).text).toBe(
      "<ul>\n<li id=a>1</li>\n<li>\n<li>\n<li id=b>two</li>\n</ul>\n",
    );
    await commits(4);
    expect(git("log", "-1", "--format=%s").trim()).toBe(`Undo ${second.slice(0, 10)} of /page.html`);
    const back = await send("POST", `/history/page.html/${first}?to`, "", { accept: "text/html" });
    expect([back.status, back.headers.get("location")]).toEqual([303, "/history/page.html"]);
    expect((await send("GET", "/page.html")).text).toBe(page);
  });

  it("are not undone where the same lines were changed again, nor over what the client has not seen", async () => {
    const { send, commits, versionsOf, last, second } = await edited();
    await send("PUT", "/page.html", "<li id=b>new</li>", { range: "selector=#b" });
    const refused = await send("POST", `/history/page.html/${second}`, "");
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([409, "WRITE_CONFLICT"]);
    expect(refused.text).toContain("new");
    const shown = await send("GET", `/history/page.html/${second}/changes`, undefined, { accept: "text/html" });
    expect(shown.text).toContain("it does not fit any more");
    const stale = await send("POST", `/history/page.html/${last}`, "", { "if-match": '"other"' });
    expect(stale.status).toBe(412);
    expect((await send("GET", "/page.html")).text).toContain("<li id=b>new</li>");
    const marks = "<<<<<<< now\r\n".repeat(400_000); // of conflicts that never end
    for (const letter of "abc") await send("PUT", "/page.html", `${letter}\r\n${marks}`);
    await commits(7);
    const { text } = await send("POST", `/history/page.html/${(await versionsOf("/page.html"))[1]}`, "");
    expect(JSON.parse(text).details).toMatch(/:\n<<<<<<< now\r\nc\r\n=======\r\na\r\n>>>>>>> before\n$/);
  });

  it("are not undone in a file that has become too large to be looked at as a whole", async () => {
    const { send, commits, versionsOf } = await site({ maxFileBytes: 100 });
    await send("PUT", "/a.txt", "a\n");
    await send("PUT", "/a.txt", "b\n");
    await commits(2);
    const [commit] = await versionsOf("/a.txt");
    const large = "b\n".repeat(1_000_000);
    await send("PUT", "/a.txt", large);
    expect((await send("POST", `/history/a.txt/${commit}`, "")).status).toBe(409);
    expect((await send("GET", "/a.txt")).text).toBe(large);
  });

  it("bring a deleted file back, also where a page stands in for it", async () => {
    const { files, send, commits, versionsOf } = await edited({ single: "/page.html" });
    await send("PUT", "/notes", "one");
    await send("DELETE", "/notes");
    await commits(5);
    const [deletion] = await versionsOf("/notes");
    expect((await send("GET", `/history/notes/${deletion}`)).status).toBe(404);
    expect((await send("POST", `/history/notes/${deletion}`, "")).status).toBe(201);
    await send("DELETE", "/notes");
    await commits(7);
    const [another = ""] = await versionsOf("/notes");
    expect(await files.revert("/notes", another)).toMatchObject({ created: true });
    expect((await send("GET", "/notes")).text).toBe("one");
  });

  it.each([
    ["anonymous clients", undefined, 401, 401, 206, 401],
    ["a user with the right", "ada", 200, 200, 206, 206],
  ])("show %s what they may read today", async (_who, user, list, whole, part, salary) => {
    const { send, commits, versionsOf } = await site({ plugins: [signIn] });
    const ada = { "x-user": "ada" };
    await send("PUT", "/private/a.txt", "secret", ada);
    await send("PUT", "/staff.html", "<p class=name>Kim</p><p class=salary>9</p>", ada);
    await send("PUT", "/staff.html", "<p class=salary>10</p>", { ...ada, range: "selector=.salary" });
    await commits(3);
    const [latest, first] = await versionsOf("/staff.html", ada);
    const as: Record<string, string> = user === undefined ? {} : { "x-user": user };
    const old = `/history/staff.html/${first}`;
    expect((await send("GET", "/history/private/a.txt", undefined, as)).status).toBe(list);
    expect((await send("GET", old, undefined, as)).status).toBe(whole);
    expect((await send("GET", `/history/staff.html/${latest}/changes`, undefined, as)).status).toBe(whole);
    expect((await send("GET", old, undefined, { ...as, range: "selector=.name" })).status).toBe(part);
    expect((await send("GET", old, undefined, { ...as, range: "selector=.salary" })).status).toBe(salary);
    expect((await send("GET", "/history/", undefined, as)).text.includes("/private/a.txt")).toBe(list === 200);
  });

  it("are kept from those whom a guard keeps from the file", async () => {
    const guarding = guard({ covers: ["/private/*"], permits: ({ exchange }) => exchange.headers["x-key"] === "1" });
    const { send, commits, versionsOf } = await site({ plugins: [guarding] });
    const key = { "x-key": "1" };
    await send("PUT", "/private/a.txt", "secret", key);
    await commits(1);
    expect((await send("GET", "/history/", undefined, key)).text).toContain("/private/a.txt");
    const [commit] = await versionsOf("/private/a.txt", key);
    expect((await send("GET", "/history/")).text).not.toContain("private");
    for (const path of ["/history/private/a.txt", `/history/private/a.txt/${commit}`]) {
      expect((await send("GET", path, undefined, key)).status).toBe(200);
      expect((await send("GET", path)).status).toBe(403);
    }
  });

  it("are undone for a user who names none: the latest change of theirs", async () => {
    const { send, commits } = await site({ before: { "page.html": page }, plugins: [signIn] });
    const [ada, bob] = [{ "x-user": "ada" }, { "x-user": "bob" }];
    await send("PUT", "/page.html", "<li id=b>by ada</li>", { ...ada, range: "selector=#b" });
    await send("PUT", "/notes.txt", "by ada", ada);
    await commits(3);
    expect((await send("POST", "/history/page.html", "", bob)).status).toBe(404);
    expect((await send("POST", "/history/", "", ada)).status).toBe(405);
    expect((await send("POST", "/history/page.html", "", ada)).status).toBe(200);
    expect((await send("GET", "/page.html", undefined, ada)).text).toBe(page);
  });

  it("are there for the program", async () => {
    const { files, commits, last, second, first } = await edited({ index: "page.html" });
    for (const path of ["page.html", "/"]) {
      const { versions } = await files.history(path, { limit: 2 });
      expect(versions.map(({ commit }) => commit)).toEqual([last, second]);
      const past = await files.read(path, "#b", { at: first });
      expect(past.content.toString()).toBe("<li id=b>two</li>");
    }
    await files.revert("/", second);
    await commits(4);
    expect((await files.read("/page.html")).content.toString()).toContain("<li id=b>two</li>");
    await expect(files.read("/page.html", undefined, { at: "0".repeat(40) })).rejects.toThrow();
    await expect(files.read("/page.html", undefined, { at: new Date("soon") })).rejects.toThrow("not a date");
  });

  it("are forgotten as the documentation says", { tags: ["bash"] }, async () => {
    const { send, files, repository, git, commits } = await site();
    await send("PUT", "/secret.txt", "s3cret");
    await send("PUT", "/a.txt", "a");
    await commits(2);
    await files.close();
    const filter = "git rm --cached --ignore-unmatch secret.txt";
    execFileSync("git", ["filter-branch", "--index-filter", filter, "main"], {
      cwd: repository,
      env: { ...process.env, FILTER_BRANCH_SQUELCH_WARNING: "1" },
      stdio: "ignore",
    });
    git("update-ref", "-d", "refs/original/refs/heads/main");
    git("reflog", "expire", "--expire=now", "--all");
    git("gc", "--prune=now", "--quiet");
    expect(git("log", "--all", "--format=%s", "--", "secret.txt")).toBe("");
    expect(git("show", "main:a.txt")).toBe("a");
  });
});
