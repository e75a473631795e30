import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { describe, expect, it, test } from "vitest";
import type { FileRequest } from "../../src/files/file-request.ts";
import { namesBudget, type OpenListing } from "../../src/files/names-budget.ts";
import { listDirectory, readDirectory } from "../../src/files/read-directory.ts";
import { contentTypeTable } from "../../src/http/content-type.ts";
import type { Right } from "../../src/server/access.ts";
import { Exchange } from "../../src/server/exchange.ts";
import type { Reply } from "../../src/server/reply.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Storage, StorageError, type StoredEntry, type StoredStat } from "../../src/storage/storage.ts";
import { stepClock, turnsUntil } from "../helpers/counted-work.ts";
import { timesOf } from "../helpers/effort.ts";
import { accessOf, fileRequest } from "../helpers/file-request.ts";

const files = memoryStorage({ "/docs/index.html": "<p>docs", "/docs/a.txt": "a", "/plain/b.txt": "b" });
const only =
  (...rights: readonly Right[]) =>
  (right: Right): boolean =>
    rights.includes(right);

describe("reading a directory", () => {
  it("asks for the right to read the index file, and gives no listing in its place", async () => {
    const asked: string[] = [];
    const permits = (right: Right, path: string): boolean => {
      asked.push(`${right} ${path}`);
      return right === "list";
    };
    const request = await fileRequest(files, "/docs/", { permits });
    await expect(readDirectory(request)).rejects.toMatchObject({ status: 401, code: "REFUSED" });
    expect(asked).toEqual(["read /docs/index.html"]);
  });

  it("sends the index file to those who may read, but not list", async () => {
    const reply = await readDirectory(await fileRequest(files, "/docs/", { permits: only("read") }));
    expect(Buffer.from(reply.body as Uint8Array).toString()).toBe("<p>docs");
  });

  it.each([
    ["/docs/", []],
    ["/plain/", ["read"] as const],
  ])("refuses %s to those who may %j", async (path, rights) => {
    const request = await fileRequest(files, path, { permits: only(...rights) });
    await expect(readDirectory(request)).rejects.toMatchObject({ status: 401, code: "REFUSED" });
  });

  it("refuses before it says that listings are off", async () => {
    const options = { listing: false };
    const request = await fileRequest(files, "/plain/", { options, permits: only("read") });
    await expect(readDirectory(request)).rejects.toMatchObject({ code: "REFUSED" });
  });

  it("closes the index file when the exchange is over, sent or not", async () => {
    let isOpen = false;
    const open: Storage["open"] = async (path) => {
      const file = await files.open(path);
      isOpen = file !== undefined;
      return (
        file && {
          stat: file.stat,
          bytes: (span) => file.bytes(span),
          stream: (span) => file.stream(span),
          async close() {
            isOpen = false;
          },
        }
      );
    };
    const request = await fileRequest({ ...files, open }, "/docs/", { headers: { "if-match": '"other"' } });
    await expect(readDirectory(request)).rejects.toMatchObject({ status: 412 });
    expect(isOpen).toBe(true);
    await request.exchange.end();
    expect(isOpen).toBe(false);
  });
});

const modified = new Date("2025-03-04T05:06:07.089Z");

type Entry = StoredEntry & StoredStat;

function file(name: string, fields: Partial<Entry> = {}): Entry {
  return { name, type: "file", size: 5, modified, version: `v-${name.length}`, ...fields };
}

function folder(name: string): Entry {
  return { name, type: "directory", size: 0, modified, version: "d" };
}

/** A storage of which nothing but the listing of one directory is ever asked. */
function directoryOf(entries: Iterable<Entry>, onAsked: (asked: string) => void = () => {}): Storage {
  const stats = new Map<string, StoredStat>();
  const list = async function* (path: string): AsyncGenerator<StoredEntry> {
    onAsked(`list ${path}`);
    for (const { name, ...stat } of entries) {
      stats.set(path + name, stat);
      yield { name, type: stat.type };
    }
  };
  const stat = async (path: string): Promise<StoredStat | undefined> => {
    onAsked(`stat ${path}`);
    return stats.get(path);
  };
  return { list, stat } as unknown as Storage;
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
  readonly host?: string;
  readonly title?: string;
  readonly openListing?: OpenListing;
}

async function list(entries: Iterable<Entry> | Storage, asked: Asked = {}): Promise<Listing> {
  const { path = "/", accept, method = "GET", search = "", mount = "", dotfiles = "ignore" } = asked;
  const { signal = new AbortController().signal, host = "example.com", title } = asked;
  const { openListing = namesBudget(500_000) } = asked;
  const exchange = new Exchange({
    incoming: { method, url: path, mount, headers: { accept }, httpVersion: "1.1", signal: () => signal } as never,
    site: { options: { maxFileSize: 1000 } } as never,
    path,
    search,
    host,
    clients: { address: () => "127.0.0.1" },
    protocol: "http",
  });
  if (asked.permits) exchange.access = accessOf(asked.permits);
  const storage = Symbol.iterator in entries ? directoryOf(entries) : entries;
  const request = {
    exchange,
    path,
    storage,
    openListing,
    contentTypeOf: contentTypeTable({}),
    options: { dotfiles, title },
  } as unknown as FileRequest;
  return { ...(await listDirectory(request)), end: async () => exchange.end() };
}

type Listing = Reply & { readonly end: () => Promise<void> };

async function textOf(reply: Reply): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of reply.body as Readable) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

async function jsonNames(entries: Iterable<Entry>, asked: Asked = {}): Promise<string[]> {
  const reply = await list(entries, { ...asked, accept: "application/json" });
  return JSON.parse(await textOf(reply)).entries.map((entry: StoredEntry) => entry.name);
}

describe("the directory listing as JSON", () => {
  test("keeps every name exactly as it is", async () => {
    const names = ['"quotes"', "<script>", "emoji 🦊", "line\u2028separator", "tail\u00e9"];
    expect((await jsonNames(names.map((name) => file(name)))).sort()).toEqual(names.sort());
  });
});

describe("the directory listing", () => {
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

  test.each([
    ["hidden names", "/", [".htpasswd", "page.html", ".git/", "aux.txt", "dot."], ["page.html"]],
    ["them, but for /.well-known", "/", [".well-known/", ".git/"], [".well-known"]],
    ["no names with a dot below that", "/.well-known/", [".a"], [".a"]],
    ["names that no request can spell", "/", ["back\\slash", "new\nline", "plain"], ["plain"]],
  ])("leaves out %s", async (_what, path, names, shown) => {
    const entries = names.map((name) => (name.endsWith("/") ? folder(name.slice(0, -1)) : file(name)));
    expect(await jsonNames(entries, { path })).toEqual(shown);
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
    const storage = directoryOf([file("a")], (asked) => {
      if (asked.startsWith("list")) listings += 1;
    });
    const head = await list(storage, { method: "HEAD" });
    expect(listings).toBe(0);
    expect(head.headers).toEqual((await list(storage)).headers);
    // A string or nothing would be given a Content-Length that GET does not have.
    expect(head.body).toBeInstanceOf(Readable);
  });

  test("leaves out what has gone since it was listed, or turned out to be something else, or is not ours", async () => {
    const storage = directoryOf([file("a"), file("gone"), folder("turned"), file("foreign"), file("z")]);
    const stat = async (path: string): Promise<StoredStat | undefined> => {
      if (path === "/foreign") throw new StorageError("forbidden");
      if (path === "/gone") return undefined;
      return path === "/turned" ? file("turned") : storage.stat(path);
    };
    const reply = await list({ ...storage, stat }, { accept: "application/json" });
    expect(JSON.parse(await textOf(reply)).entries.map(({ name }: StoredEntry) => name)).toEqual(["a", "z"]);
  });
});

describe("a page of the directory listing", () => {
  const entries = ["a10", "b", "a2", "c"].map((name) => file(name)).concat(folder("z"), folder("y"));
  const pageOf = async (search: string, of: Iterable<Entry> | Storage = entries) =>
    JSON.parse(await textOf(await list(of, { search, accept: "application/json" })));
  const namesOf = ({ entries: listed }: { entries: StoredEntry[] }): string[] => listed.map(({ name }) => name);

  test("is linked to by the name of the last entry, with a slash for a directory", async () => {
    expect((await pageOf("?limit=1")).next).toBe("?limit=1&after=y%2F");
    expect((await pageOf("?limit=3&after=z/")).next).toBe("?limit=3&after=b");
    expect((await pageOf("?after=a10")).next).toBeUndefined();
  });

  test("begins where it would have, also when the entry before it has gone and others have come", async () => {
    expect(namesOf(await pageOf("?limit=2&after=a9"))).toEqual(["a10", "b"]);
    expect(namesOf(await pageOf("?limit=2&after=a2", [...entries, file("a1"), file("a3")]))).toEqual(["a3", "a10"]);
    expect(namesOf(await pageOf("?after=zz"))).toEqual([]);
    expect(namesOf(await pageOf("?after=yy/"))).toEqual(["z", "a2", "a10", "b", "c"]);
  });

  test("is cut by name, and sorted by what the query names", async () => {
    const sized = [file("a", { size: 1 }), file("b", { size: 3 }), file("c", { size: 2 }), file("d", { size: 9 })];
    const page = await pageOf("?limit=3&sort=size&order=desc", sized);
    expect(namesOf(page)).toEqual(["b", "c", "a"]);
    expect(page.next).toBe("?limit=3&after=c&sort=size&order=desc");
  });

  test("measures its own entries and no others", async () => {
    const asked: string[] = [];
    const storage = directoryOf(
      Array.from({ length: 10_000 }, (_, i) => file(`f${i}`)),
      (what) => asked.push(what),
    );
    await pageOf("?limit=3&after=f4999", storage);
    expect(asked).toEqual(["list /", "stat /f5000", "stat /f5001", "stat /f5002"]);
  });

  test("has at most 5,000 entries as HTML, with links to the next page and back to the first", async () => {
    const many = Array.from({ length: 5_001 }, (_, i) => file(`f${i}`));
    const first = await textOf(await list(many));
    expect(first.match(/<th scope="row"><a/g)).toHaveLength(5_000);
    expect(first).toContain('<a href="?after=f4999" rel="next">Next page</a>');
    expect(first).toContain("5,001 files; this page shows 1 to 5,000 and sorts only these");
    const second = await textOf(await list(many, { search: "?after=f4999" }));
    expect(second.match(/<th scope="row"><a/g)).toHaveLength(1);
    expect(second).toContain('<a href="./">First page</a>');
    expect(second).not.toContain("Next page");
    expect(await textOf(await list(many.slice(1)))).not.toContain('class="pages"');
  });
});

describe("the directory listing as a page", () => {
  test("carries a policy that admits its own style, and modules and files of this server", async () => {
    const { headers } = await list([]);
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; img-src 'self' data:; script-src 'self'; connect-src 'self'; media-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'$/,
    );
  });

  test.each([
    ["example.com", "", undefined, "example.com"],
    ["example.com", "/docs", "Our files", "Our files"],
    ["127.0.0.1", "", undefined, "Home"],
    ["[::1]", "/docs", undefined, "docs"],
    ["127.0.0.1", "", "<Files>", "&lt;Files&gt;"],
  ])("at %s%s with the title %s is that of %s", async (host, mount, title, called) => {
    const page = await textOf(await list([file("a")], { host, mount, ...(title && { title }) }));
    expect(page).toContain(`<title>${called}</title>`);
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

describe("tens of thousands of entries", () => {
  const count = timesOf(8_000, 100_000);

  function* many(): Generator<Entry> {
    for (let i = 0; i < count; i += 1) yield file(`photo-${(i * 7919) % count} of a holiday.jpeg`, { size: i });
  }

  test.each(["text/html", "application/json"])("leave others their turns, as %s", async (accept) => {
    stepClock();
    let bytes = 0;
    const receive = async (): Promise<void> => {
      for await (const chunk of (await list(many(), { accept })).body as Readable) bytes += chunk.length;
    };
    expect(await turnsUntil(receive())).toBeGreaterThan(200);
    expect(bytes).toBeGreaterThan(500_000);
  });

  test("are sent in pieces, in order", async () => {
    const reply = await list(many(), { accept: "application/json" });
    let pieces = 0;
    let text = "";
    for await (const chunk of reply.body as Readable) {
      pieces += 1;
      text += chunk;
    }
    expect(pieces).toBeGreaterThan(40);
    const names = JSON.parse(text).entries.map((entry: StoredEntry) => entry.name);
    expect(names).toHaveLength(count);
    expect(names[count - 1]).toBe(`photo-${count - 1} of a holiday.jpeg`);
  });
});
