import { writeFileSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig, HostConfig } from "../../../src/config.ts";
import { createFileServer, type FileServer } from "../../../src/file-server.ts";
import { directory } from "../../../src/plugins/directory.ts";
import { fileHandler } from "../../../src/plugins/file-handler.ts";
import type { Change } from "../../../src/server/change-feed.ts";
import type { Plugin } from "../../../src/server/plugin.ts";
import { diskStorage } from "../../../src/storage/disk/disk-storage.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { fastClock } from "../../helpers/fast-clock.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { ToldChanges } from "../../helpers/told-changes.ts";
import { content } from "../../storage/content.ts";

/** A server that watches its files, what it announced, and both ways to change them. */
class LiveSite extends ToldChanges<Change> {
  readonly files: FileServer;
  readonly errors: unknown[] = [];

  constructor(root: string, config: FileServerConfig) {
    super(root);
    const onError = (error: unknown): void => void this.errors.push(error);
    this.files = createFileServer({ watch: true, onError, ...config });
    this.files.changes.subscribe((change) => this.hear(change));
  }

  async send(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Response> {
    const host = headers["host"] ?? "localhost";
    const request = new Request(`http://${host}${path}`, { method, headers, ...(body !== undefined && { body }) });
    const response = await this.files.fetch(request);
    expect(response.status).toBeLessThan(300);
    return response;
  }

  /** Edits a file behind the server's back; in one step, as no event is read before it is done. */
  async edit(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  /** What was announced, in order, in words; `by us` for requests. */
  async summary(): Promise<string[]> {
    await this.settled();
    return this.told
      .filter(({ path }) => !path.startsWith("/sentinel"))
      .map(({ kind, path, requestId }) => `${kind} ${path}${requestId.startsWith("by-us") ? " by us" : ""}`);
  }
}

let requests = 0;

/** Headers of a request of ours. */
const byUs = (headers: Record<string, string> = {}): Record<string, string> => {
  requests += 1;
  return { ...headers, "x-request-id": `by-us-${requests}` };
};

type Config = Omit<FileServerConfig, "root">;

/** Serves a directory of the disk with these files until the test is over. */
async function liveSite(
  files: Readonly<Record<string, string>> = {},
  config: Config | ((root: string) => Config) = {},
): Promise<LiveSite> {
  const root = join(await temporaryDirectory(), "site");
  await mkdir(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const given = typeof config === "function" ? config(root) : config;
  const isPlain = given.storage === undefined && given.hosts === undefined;
  const site = new LiveSite(root, isPlain ? { root, ...given } : given);
  onTestFinished(() => site.files.close());
  await site.files.ready();
  return site;
}

const page = "<!doctype html><title>t</title><ul id=a><li>1</ul><p id=b>one</p>";

describe("an edit on the disk", () => {
  beforeEach(() => fastClock());

  it("is announced with the entity tag that readers get", async () => {
    const site = await liveSite({ "/page.html": page });
    await site.edit("/page.html", "<p>changed");
    await site.until(() => site.told.length === 1);
    const etag = (await site.send("HEAD", "/page.html")).headers.get("etag");
    expect(site.told).toEqual([
      {
        id: 1,
        kind: "replaced",
        method: "PUT",
        host: "*",
        path: "/page.html",
        etag,
        size: "<p>changed".length,
        requestId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    ]);
  });

  it("is announced as made, replaced or deleted", async () => {
    const site = await liveSite({ "/old.txt": "old", "/page.html": page });
    await site.edit("/sub/new.txt", "new");
    await site.edit("/page.html", "changed");
    await rm(join(site.root, "old.txt"));
    await expect
      .poll(async () => (await site.summary()).sort())
      .toEqual(["created /sub/new.txt", "deleted /old.txt", "replaced /page.html"]);
    expect(site.told.find(({ kind }) => kind === "deleted")).toMatchObject({ method: "DELETE", path: "/old.txt" });
    expect(site.told.find(({ kind }) => kind === "deleted")).not.toHaveProperty("etag");
  });

  it("is announced for the host whose files they are", async () => {
    const sites: string[] = [];
    const root = await temporaryDirectory();
    const site = await liveSite({}, (fallback) => ({ hosts: { "a.example": { root }, "*": { root: fallback } } }));
    site.files.changes.subscribe((_, origin) => void sites.push(origin.site));
    writeFileSync(join(root, "a.txt"), "a");
    await site.until(() => site.told.length === 1);
    expect(site.told[0]).toMatchObject({ host: "a.example", path: "/a.txt" });
    expect(sites).toEqual(["a.example"]);
  });

  it("is not announced without the option", async () => {
    const watched = await liveSite();
    const site = new LiveSite(watched.root, { root: watched.root, watch: false });
    onTestFinished(() => site.files.close());
    await site.files.ready();
    await watched.edit("/a.txt", "a");
    await expect.poll(() => watched.summary()).toEqual(["created /a.txt"]);
    expect(site.told).toEqual([]);
  });

  it("of a hidden file is announced only where clients may see such files", async () => {
    const edits = ["/.env", "/.git/HEAD", "/sub/.hidden/a.txt", "/con.txt", "/a:b", "/.filement-1-1-1.tmp"];
    const site = await liveSite({ "/sub/a.txt": "a" });
    const open = await liveSite({ "/sub/a.txt": "a" }, { dotfiles: "allow" });
    for (const each of [site, open]) {
      for (const path of [...edits, "/.well-known/security.txt"]) await each.edit(path, "x");
    }
    await expect.poll(() => site.summary()).toEqual(["created /.well-known/security.txt"]);
    await expect
      .poll(async () => (await open.summary()).sort())
      .toEqual([
        "created /.env",
        "created /.git/HEAD",
        "created /.well-known/security.txt",
        "created /sub/.hidden/a.txt",
      ]);
  });

  it("of a protected file is not announced", async () => {
    const guard: Plugin = {
      name: "guard",
      start: (site) => site.protect(join(root, "users.json")),
    };
    let root = "";
    const site = await liveSite({ "/users.json": "[]" }, (given) => {
      root = given;
      return { plugins: [fileHandler(), guard] };
    });
    await site.edit("/users.json", "[1]");
    await rm(join(site.root, "users.json"));
    expect(await site.summary()).toEqual([]);
  });

  it("is announced for a document whose parsed form is at hand, which is not used any more", async () => {
    const site = await liveSite({ "/page.html": page });
    const select = async (): Promise<string> =>
      (await site.send("GET", "/page.html", undefined, selector("#b"))).text();
    expect(await select()).toContain("one");
    expect(await select()).toContain("one");
    await site.edit("/page.html", page.replace("one", "two"));
    expect(await select()).toContain("two");
    await expect.poll(() => site.summary()).toEqual(["replaced /page.html"]);
    expect(await select()).toContain("two");
  });

  it("through the storage, by the program around the server, is announced", async () => {
    const storage = memoryStorage({ "/a.txt": "a" });
    const files = createFileServer({ storage, watch: true });
    onTestFinished(() => files.close());
    await files.ready();
    const changes = files.changes[Symbol.asyncIterator]();
    await storage.write("/b.txt", content("b"));
    await storage.append("/a.txt", content("b"));
    await storage.remove("/a.txt");
    const kinds = [(await changes.next()).value, (await changes.next()).value];
    expect(kinds.map((change) => change && `${change.kind} ${change.path}`)).toEqual([
      "created /b.txt",
      "deleted /a.txt",
    ]);
  });
});

describe("the server's own changes", () => {
  beforeEach(() => fastClock());

  it.each(["fsync", "rename"] as const)("are announced once (%s)", async (durability) => {
    const site = await liveSite({ "/page.html": page, "/list.txt": "1", "/old.txt": "old" }, { durability });
    await site.send("PUT", "/new/deep/file.txt", "new", byUs());
    await site.send("PUT", "/new/deep/file.txt", "newer", byUs());
    await site.send("POST", "/list.txt", "2", byUs());
    await site.send("POST", "/", "created", byUs({ "x-filename": "made.txt" }));
    await site.send("DELETE", "/old.txt", undefined, byUs());
    await site.send("PUT", "/page.html", "<p id=b>two</p>", byUs(selector("#b")));
    await site.send("POST", "/page.html", "<li>2", byUs(selector("#a")));
    await site.send("DELETE", "/page.html", undefined, byUs(selector("#b")));
    await expect
      .poll(() => site.summary())
      .toEqual([
        "created /new/deep/file.txt by us",
        "replaced /new/deep/file.txt by us",
        "appended /list.txt by us",
        "created /made.txt by us",
        "deleted /old.txt by us",
        "elements-replaced /page.html by us",
        "elements-appended /page.html by us",
        "elements-deleted /page.html by us",
      ]);
  });

  it("do not swallow the edit that follows at once", async () => {
    const site = await liveSite();
    await site.send("PUT", "/a.txt", "ours", byUs());
    await site.edit("/a.txt", "theirs");
    await expect.poll(() => site.summary()).toEqual(["created /a.txt by us", "replaced /a.txt"]);
    expect(site.told.find(({ kind }) => kind === "replaced")?.etag).toBe(
      (await site.send("HEAD", "/a.txt")).headers.get("etag"),
    );
  });

  it("do not swallow the edit that came right before", async () => {
    const site = await liveSite({ "/page.html": page });
    await site.edit("/page.html", page.replace("one", "theirs"));
    await site.send("POST", "/page.html", "<li>ours", byUs(selector("#a")));
    await site.edit("/page.html", page.replace("one", "theirs again"));
    await site.send("PUT", "/page.html", "ours", byUs());
    await expect
      .poll(() => site.summary())
      .toEqual([
        "replaced /page.html",
        "elements-appended /page.html by us",
        "replaced /page.html",
        "replaced /page.html by us",
      ]);
  });

  it("that another program undoes at once are announced as undone", async () => {
    const site = await liveSite({ "/old.txt": "old" });
    await site.send("PUT", "/new.txt", "new", byUs());
    await rm(join(site.root, "new.txt"));
    await site.send("DELETE", "/old.txt", undefined, byUs());
    await site.edit("/old.txt", "old again");
    await site.until(() => site.told.length === 4);
    const summary = await site.summary();
    expect(summary.filter((each) => each.includes("new"))).toEqual(["created /new.txt by us", "deleted /new.txt"]);
    expect(summary.filter((each) => each.includes("old"))).toEqual(["deleted /old.txt by us", "created /old.txt"]);
  });

  it("through a link are announced at the link, and at the file as another's", async () => {
    const site = await liveSite({ "/pages/home.html": page });
    await symlink("pages/home.html", join(site.root, "index.html"));
    await site.until(() => site.told.length === 1);
    await site.settled();
    site.told.length = 0;
    await site.send("PUT", "/index.html", "new", byUs());
    await expect.poll(() => site.summary()).toEqual(["replaced /index.html by us", "replaced /pages/home.html"]);
  });
});

describe("two hosts with the same files", () => {
  beforeEach(() => fastClock());

  async function twoHosts(configs: (root: string) => [HostConfig, HostConfig]): Promise<LiveSite> {
    return liveSite({ "/a.txt": "a" }, (root) => {
      const [one, two] = configs(root);
      return { hosts: { "one.example": one, "two.example": two } };
    });
  }

  it.each([
    { what: "in one directory", configs: (root: string): [HostConfig, HostConfig] => [{ root }, { root }] },
    {
      what: "in one storage",
      configs: (root: string): [HostConfig, HostConfig] => {
        const storage = diskStorage(root);
        return [{ storage }, { storage }];
      },
    },
  ])("each announce what happens $what, the other's changes included", async ({ configs }) => {
    const site = await twoHosts(configs);
    await site.send("PUT", "/b.txt", "b", byUs({ host: "one.example" }));
    await site.until(() => site.told.length === 2);
    await site.edit("/a.txt", "changed");
    await site.until(() => site.told.length === 4);
    const announced = site.told.map(({ kind, host, path, requestId }) =>
      [kind, host, path, requestId.startsWith("by-us")].join(" "),
    );
    expect(announced.slice(0, 2)).toEqual(["created one.example /b.txt true", "created two.example /b.txt false"]);
    expect(announced.slice(2).sort()).toEqual([
      "replaced one.example /a.txt false",
      "replaced two.example /a.txt false",
    ]);
  });
});

describe("several file handlers", () => {
  beforeEach(() => fastClock());

  it("announce their files at the paths at which these appear", async () => {
    const archive = await temporaryDirectory();
    const site = await liveSite({ "/archive/shadowed.txt": "x", "/a.txt": "a" }, () => ({
      plugins: [directory({ directory: "/archive", plugins: [fileHandler({ root: archive, at: "/archive" })] })],
    }));
    await mkdir(join(archive, "2024"));
    writeFileSync(join(archive, "2024/x.txt"), "x");
    writeFileSync(join(archive, "y.txt"), "y");
    await site.edit("/archive/shadowed.txt", "nobody can see this");
    await site.edit("/a.txt", "changed");
    await expect
      .poll(async () => (await site.summary()).sort())
      .toEqual(["created /archive/2024/x.txt", "created /archive/y.txt", "replaced /a.txt"]);
  });

  it("announce nothing at paths that never reach them", async () => {
    const other = await temporaryDirectory();
    const site = await liveSite(
      {},
      { plugins: [directory({ directory: "/only", plugins: [fileHandler({ root: other })] })] },
    );
    await mkdir(join(other, "only"));
    writeFileSync(join(other, "a.txt"), "unreachable");
    writeFileSync(join(other, "only/b.txt"), "b");
    await expect.poll(() => site.summary()).toEqual(["created /only/b.txt"]);
  });

  it("with one storage announce each file once, and by the rules of the one that answers", async () => {
    const site = await liveSite(
      {},
      { plugins: [directory({ directory: "/open", plugins: [fileHandler({ dotfiles: "allow" })] })] },
    );
    for (const path of ["/a.txt", "/.env", "/open/a.txt", "/open/.env"]) await site.edit(path, "x");
    await expect
      .poll(async () => (await site.summary()).sort())
      .toEqual(["created /a.txt", "created /open/.env", "created /open/a.txt"]);
  });
});

describe("the watching", () => {
  it("is refused where the storage cannot be watched", async () => {
    const { watch, ...storage } = memoryStorage();
    expect(watch).toBeTypeOf("function");
    const files = createFileServer({ hosts: { "a.example": { storage } }, watch: true });
    const message = 'watch is true, but the storage of host "a.example" cannot be watched: expected false';
    await expect(files.ready()).rejects.toMatchObject({ name: "ConfigError", problems: [message] });
    await files.close();
  });

  it("reports what keeps it from noticing changes, and the server goes on", async () => {
    const failing = { ...memoryStorage({ "/a.txt": "a" }) };
    const files = createFileServer({
      storage: {
        ...failing,
        async watch(watcher) {
          watcher.failed(new Error("no more watches"));
          return async () => {};
        },
      },
      watch: true,
      onError: (error) => void errors.push(error),
    });
    const errors: unknown[] = [];
    onTestFinished(() => files.close());
    expect((await files.fetch(new Request("http://localhost/a.txt"))).status).toBe(200);
    expect(errors.map(String)).toEqual(["Error: no more watches"]);
  });

  it("ends with the server", async () => {
    fastClock();
    const site = await liveSite();
    const other = new LiveSite(site.root, { root: site.root });
    onTestFinished(() => other.files.close());
    await other.files.ready();
    await site.edit("/a.txt", "a");
    await site.until(() => site.told.length === 1);
    await site.files.close();
    await site.edit("/b.txt", "b");
    await expect.poll(async () => (await other.summary()).sort()).toEqual(["created /a.txt", "created /b.txt"]);
    expect(site.told.length).toBe(1);
  });
});

function selector(text: string): Record<string, string> {
  return { range: `selector=${text}` };
}
