import { Buffer } from "node:buffer";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { FileRequest } from "../../src/files/file-request.ts";
import { listDirectory } from "../../src/files/list-directory.ts";
import { HttpError } from "../../src/http/http-error.ts";
import type { Right } from "../../src/server/access.ts";
import { Exchange } from "../../src/server/exchange.ts";
import type { Reply } from "../../src/server/reply.ts";
import type { Storage, StoredEntry } from "../../src/storage/storage.ts";

const modified = new Date("2025-03-04T05:06:07.089Z");

function file(name: string, fields: Partial<StoredEntry> = {}): StoredEntry {
  return { name, type: "file", size: 5, modified, version: `v-${name.length}`, ...fields };
}

function folder(name: string): StoredEntry {
  return { name, type: "directory", size: 0, modified, version: "d" };
}

/** A storage of which nothing but the listing of one directory is ever asked. */
function directoryOf(entries: Iterable<StoredEntry>, onListed: (path: string) => void = () => {}): Storage {
  const list = async function* (path: string): AsyncGenerator<StoredEntry> {
    onListed(path);
    yield* entries;
  };
  return { list } as unknown as Storage;
}

interface Asked {
  readonly path?: string;
  readonly accept?: string;
  readonly method?: string;
  readonly search?: string;
  readonly mount?: string;
  readonly dotfiles?: "ignore" | "allow";
  readonly permits?: (right: Right, path: string) => boolean;
  readonly signal?: AbortSignal;
}

async function list(entries: Iterable<StoredEntry> | Storage, asked: Asked = {}): Promise<Reply> {
  const { path = "/", accept, method = "GET", search = "", mount = "", dotfiles = "ignore" } = asked;
  const { signal = new AbortController().signal } = asked;
  const exchange = new Exchange({
    incoming: { method, url: path, mount, headers: { accept }, httpVersion: "1.1", signal: () => signal } as never,
    site: { options: { maxFileSize: 1000 } } as never,
    path,
    search,
    host: "example.com",
    clients: { address: () => "127.0.0.1" },
    protocol: "http",
  });
  if (asked.permits) exchange.access = { permits: asked.permits, refusal: () => new HttpError(403, "FORBIDDEN", "") };
  const storage = Symbol.iterator in entries ? directoryOf(entries) : entries;
  return listDirectory({ exchange, path, storage, options: { dotfiles } } as unknown as FileRequest);
}

async function textOf(reply: Reply): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of reply.body as Readable) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

async function jsonNames(entries: Iterable<StoredEntry>, asked: Asked = {}): Promise<string[]> {
  const reply = await list(entries, { ...asked, accept: "application/json" });
  return JSON.parse(await textOf(reply)).entries.map((entry: StoredEntry) => entry.name);
}

describe("the directory listing as JSON", () => {
  test("gives path and entries, with an entity tag for files", async () => {
    const entries = [file("a.txt", { size: 42, version: "abc-1" }), folder("sub")];
    const reply = await list(entries, { path: "/notes/", accept: "application/json" });
    expect(reply.status).toBe(200);
    expect(reply.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(await textOf(reply))).toEqual({
      path: "/notes/",
      entries: [
        { name: "sub", type: "directory", size: 0, modified: "2025-03-04T05:06:07.089Z" },
        { name: "a.txt", type: "file", size: 42, modified: "2025-03-04T05:06:07.089Z", etag: '"abc-1"' },
      ],
    });
  });

  test("of an empty directory is an empty list", async () => {
    const reply = await list([], { accept: "application/json" });
    expect(JSON.parse(await textOf(reply))).toEqual({ path: "/", entries: [] });
  });

  test("keeps every name exactly as it is", async () => {
    const names = ['"quotes"', "<script>", "emoji 🦊", "line\u2028separator", "tail\u00e9"];
    expect((await jsonNames(names.map((name) => file(name)))).sort()).toEqual(names.sort());
  });
});

describe("the directory listing", () => {
  test("is HTML unless JSON is preferred", async () => {
    const type = async (accept?: string) =>
      (await list([], accept === undefined ? {} : { accept })).headers["content-type"];
    expect(await type()).toBe("text/html; charset=utf-8");
    expect(await type("*/*")).toBe("text/html; charset=utf-8");
    expect(await type("text/html,application/xhtml+xml,*/*;q=0.8")).toBe("text/html; charset=utf-8");
    expect(await type("image/png")).toBe("text/html; charset=utf-8");
    expect(await type("application/json")).toBe("application/json");
    expect(await type("text/html;q=0.5, application/json")).toBe("application/json");
  });

  test("puts directories first, then goes by natural order", async () => {
    const entries = [file("img10.png"), folder("z"), file("IMG1.png"), file("img2.png"), folder("10"), folder("9")];
    expect(await jsonNames(entries)).toEqual(["9", "10", "z", "IMG1.png", "img2.png", "img10.png"]);
  });

  test("is sorted by the column that the query names, directories still first", async () => {
    const entries = [file("a", { size: 10 }), file("b", { size: 9 }), file("c", { size: 10 }), folder("d")];
    expect(await jsonNames(entries, { search: "?sort=size" })).toEqual(["d", "b", "a", "c"]);
    expect(await jsonNames(entries, { search: "?sort=size&order=desc" })).toEqual(["d", "c", "a", "b"]);
    expect(await jsonNames(entries, { search: "?order=desc" })).toEqual(["d", "c", "b", "a"]);
  });

  test("leaves out hidden names", async () => {
    const entries = [file(".htpasswd"), file("page.html"), folder(".git"), file("aux.txt"), file("dot.")];
    expect(await jsonNames(entries)).toEqual(["page.html"]);
  });

  test("shows names with a dot where the option allows them", async () => {
    expect(await jsonNames([file(".htpasswd"), file("page.html")], { dotfiles: "allow" })).toHaveLength(2);
  });

  test("shows /.well-known and the names with a dot below it", async () => {
    expect(await jsonNames([folder(".well-known"), folder(".git")])).toEqual([".well-known"]);
    expect(await jsonNames([file(".a")], { path: "/.well-known/" })).toEqual([".a"]);
  });

  test("leaves out names that no request can spell", async () => {
    expect(await jsonNames([file("back\\slash"), file("new\nline"), file("plain")])).toEqual(["plain"]);
  });

  test("leaves out what this user may neither read nor list", async () => {
    const asked: string[] = [];
    const permits = (right: Right, path: string) => {
      asked.push(`${right} ${path}`);
      return !path.includes("secret");
    };
    const entries = [file("secret.txt"), folder("secrets"), file("open.txt"), folder("open")];
    expect(await jsonNames(entries, { path: "/a/", permits })).toEqual(["open", "open.txt"]);
    expect(asked).toEqual(["read /a/secret.txt", "list /a/secrets/", "read /a/open.txt", "list /a/open/"]);
  });

  test("depends on what the client accepts and who it is, and is never reused unasked", async () => {
    const { headers } = await list([]);
    expect(headers).toMatchObject({ vary: "accept, authorization", "cache-control": "no-cache" });
  });

  test("fails before anything is sent where the directory has gone", async () => {
    const gone = directoryOf([], () => {
      throw new Error("gone");
    });
    await expect(list(gone)).rejects.toThrow("gone");
  });

  test("answers HEAD with the header fields of GET, without listing", async () => {
    let listings = 0;
    const storage = directoryOf([file("a")], () => {
      listings += 1;
    });
    const head = await list(storage, { method: "HEAD" });
    expect(listings).toBe(0);
    expect(head.headers).toEqual((await list(storage)).headers);
    // A string or nothing would be given a Content-Length that GET does not have.
    expect(head.body).toBeInstanceOf(Readable);
  });

  test("stops asking the storage once the client has left", async () => {
    const leaving = new AbortController();
    let given = 0;
    const endless = function* () {
      for (;;) {
        given += 1;
        if (given === 100) leaving.abort();
        yield file(`f${given}`);
      }
    };
    await list(endless(), { signal: leaving.signal });
    expect(given).toBe(100);
  });
});

describe("the directory listing as a page", () => {
  test("carries a policy that admits its own style and nothing else", async () => {
    const { headers } = await list([]);
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'; frame-ancestors 'self'$/,
    );
  });

  test("calls the root directory by host and mount path", async () => {
    const page = await textOf(await list([file("a")], { path: "/sub/", mount: "/docs" }));
    expect(page).toContain('<a href="../">example.com/docs</a>');
  });

  test("offers the other order of the column it is sorted by", async () => {
    const page = await textOf(await list([file("a")], { search: "?sort=size&order=desc" }));
    expect(page).toContain('<th scope="col" aria-sort="descending"><a href="?sort=size&amp;order=asc">Size</a></th>');
    expect(page).toContain('<th scope="col"><a href="?sort=name&amp;order=asc">Name</a></th>');
  });
});

describe("100,000 entries", () => {
  function* many(): Generator<StoredEntry> {
    for (let i = 0; i < 100_000; i += 1) yield file(`photo-${(i * 7919) % 100_000} of a holiday.jpeg`, { size: i });
  }

  test.each(["text/html", "application/json"])("do not hold up anybody else, as %s", async (accept) => {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    await setTimeout(20); // the monitor measures from its own first tick to its last
    let bytes = 0;
    const reply = await list(many(), { accept });
    for await (const chunk of reply.body as Readable) bytes += chunk.length;
    await setTimeout(20);
    delay.disable();
    expect(bytes).toBeGreaterThan(100_000 * 60);
    expect(delay.max / 1e6).toBeLessThan(200);
  });

  test("are sent in pieces, in order", async () => {
    const reply = await list(many(), { accept: "application/json" });
    let pieces = 0;
    let text = "";
    for await (const chunk of reply.body as Readable) {
      pieces += 1;
      text += chunk;
    }
    expect(pieces).toBeGreaterThan(100);
    const names = JSON.parse(text).entries.map((entry: StoredEntry) => entry.name);
    expect(names).toHaveLength(100_000);
    expect(names[99_999]).toBe("photo-99999 of a holiday.jpeg");
  });
});
