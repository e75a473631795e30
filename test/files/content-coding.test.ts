import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { compressedBytes } from "../../src/files/content-coding.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { OpenFile, Storage } from "../../src/storage/storage.ts";
import { type Answer, send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const page = `<!doctype html><ul id="list">${"<li>item</li>".repeat(200)}</ul>`;
const large = Array.from({ length: 40_000 }, (_, i) => `${i},${(i * 7919) % 10_007}`).join("\n");
const browser = { "accept-encoding": "gzip, deflate, br" };
const stored = {
  "/index.html": page,
  "/large.csv": large,
  "/short.txt": "short",
  "/picture.png": Buffer.alloc(5000),
  "/drawing.svg": `<svg xmlns="http://www.w3.org/2000/svg">${"<g/>".repeat(500)}</svg>`,
};

type Asks = (method: string, path: string, headers?: Record<string, string>, body?: string) => Promise<Answer>;

/** The tags of a page by its codings, each of which has another one. */
async function tagsBy(ask: Asks): Promise<string[]> {
  const replies = ["br", "gzip", "identity"].map((coding) => ask("GET", "/index.html", { "accept-encoding": coding }));
  const tags = (await Promise.all(replies)).map(({ headers }) => headers.etag ?? "");
  expect(new Set(tags).size).toBe(3);
  return tags;
}

async function site(config: FileServerConfig = {}): Promise<Asks> {
  const { url } = await serve({ storage: memoryStorage(stored), compress: true, ...config });
  return (method, path, headers = {}, body) => send(url, method, path, { headers, body });
}

/** The same storage, whose files are given to `change` when they are opened. */
function withFiles(storage: Storage, change: (file: OpenFile) => Partial<OpenFile>): Storage {
  const open = async (path: string): Promise<OpenFile | undefined> => {
    const file = await storage.open(path);
    if (!file) return undefined;
    const changed = { ...change(file) };
    return {
      stat: file.stat,
      bytes: changed.bytes ?? ((span) => file.bytes(span)),
      stream: changed.stream ?? ((span) => file.stream(span)),
      close: () => file.close(),
    };
  };
  return { ...storage, open };
}

describe("compress", () => {
  it.each([
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["br;q=0.5, gzip", "gzip", gunzipSync],
    ["br;q=0, *;q=0.1, zstd;q=0", "gzip", gunzipSync],
  ])("sends text in the coding that the client prefers: %j", async (accepted, coding, decode) => {
    const ask = await site();
    for (const [path, content] of [
      ["/index.html", page],
      ["/large.csv", large],
    ] as const) {
      const { status, headers, bytes } = await ask("GET", path, { "accept-encoding": accepted });
      expect([status, headers["content-encoding"], headers["vary"]]).toEqual([
        200,
        coding,
        path === "/index.html" ? "range, accept-encoding" : "accept-encoding",
      ]);
      expect(bytes.length).toBeLessThan(content.length / 2);
      expect(decode(bytes).toString()).toBe(content);
    }
  });

  it.each([
    ["a client that takes no coding", "/index.html", { "accept-encoding": "identity" }, {}],
    ["a client that prefers it plain", "/index.html", { "accept-encoding": "identity, br;q=0.5" }, {}],
    ["a client that says nothing", "/index.html", {}, {}],
    ["a short file", "/short.txt", browser, {}],
    ["a type that is compressed already", "/picture.png", browser, {}],
    ["what must be sent as it is", "/index.html", browser, { cacheControl: { "/*": "no-cache, no-transform" } }],
    ["the option off", "/index.html", browser, { compress: false }],
  ])("sends a file plain: %s", async (_reason, path, headers, config) => {
    const ask = await site(config);
    const answer = await ask("GET", path, headers);
    expect([answer.status, answer.headers["content-encoding"]]).toEqual([200, undefined]);
    expect(answer.bytes.equals(Buffer.from(stored[path as keyof typeof stored]))).toBe(true);
  });

  it("leaves alone what the host program says is coded", async () => {
    const ask = await site({ headers: () => ({ "Content-Encoding": "gzip" }) });
    const { headers, text } = await ask("GET", "/index.html", browser);
    expect([headers["content-encoding"], text]).toEqual(["gzip", page]);
  });

  it("tells caches of the dependence, of text only, however short it is", async () => {
    const ask = await site();
    const varyOf = async (path: string, headers = {}) => (await ask("GET", path, headers)).headers["vary"];
    expect(await varyOf("/short.txt")).toBe("accept-encoding");
    expect(await varyOf("/drawing.svg")).toBe("range, accept-encoding");
    expect(await varyOf("/picture.png", browser)).toBe(undefined);
    expect(await varyOf("/", { accept: "text/html" })).toBe("accept, authorization, range, accept-encoding");
  });

  it.each(["/index.html", "/large.csv", "/short.txt"])("describes %s to HEAD as GET sends it", async (path) => {
    const ask = await site();
    const described = ({ status, headers: { date: _d, "x-request-id": _i, connection: _c, ...headers } }: Answer) => {
      const { "transfer-encoding": _framing, ...others } = headers; // of content that a HEAD does not have
      return [status, others];
    };
    expect(described(await ask("HEAD", path, browser))).toEqual(described(await ask("GET", path, browser)));
  });

  it("gives each coding a strong tag of its own, good for a 304 and for If-Match of a write", async () => {
    const ask = await site();
    const tags = await tagsBy(ask);
    expect(tags.join(" ")).not.toContain("W/");
    const [tag = "", other = ""] = tags;
    const cached = await ask("GET", "/index.html", { ...browser, "if-none-match": tag });
    expect(cached).toMatchObject({ status: 304, headers: { etag: tag, vary: "range, accept-encoding" } });
    expect((await ask("GET", "/index.html", { ...browser, "if-none-match": other })).status).toBe(200);
    const edit = { range: "selector=#list", "if-match": tag };
    expect((await ask("POST", "/index.html", edit, "<li>new</li>")).status).toBe(206);
    expect((await ask("PUT", "/index.html", { "if-match": other }, "again")).status).toBe(412);
    const current = (await ask("GET", "/index.html", { "accept-encoding": "gzip" })).headers.etag ?? "";
    expect((await ask("PUT", "/index.html", { "if-match": current }, "again")).status).toBe(200);
  });

  it("answers ranges from the content as it is stored, never in the middle of a compressed one", async () => {
    const ask = await site();
    const part = await ask("GET", "/index.html", { ...browser, range: "bytes=2-8" });
    expect([part.status, part.headers["content-encoding"], part.text]).toEqual([206, undefined, page.slice(2, 9)]);
    const tag = (await ask("GET", "/index.html", browser)).headers.etag ?? "";
    const resumed = await ask("GET", "/index.html", { ...browser, range: "bytes=2-8", "if-range": tag });
    expect([resumed.status, resumed.headers["content-encoding"], resumed.text]).toEqual([200, undefined, page]);
    const elements = await ask("GET", "/index.html", { ...browser, range: "selector=#list" });
    expect([elements.status, elements.headers["content-encoding"]]).toEqual([206, undefined]);
  });

  it("sends a file that lies compressed beside it where there is one", async () => {
    const files = { ...stored, "/index.html.gz": "made before" };
    const ask = await site({ storage: memoryStorage(files), precompressed: true });
    const ready = await ask("GET", "/index.html", browser);
    expect([ready.headers["content-encoding"], ready.text]).toEqual(["gzip", "made before"]);
    expect((await ask("GET", "/drawing.svg", browser)).headers["content-encoding"]).toBe("br");
  });

  it("compresses a small file once for all who ask, and again when it has changed", async () => {
    let read = 0;
    const storage = withFiles(memoryStorage(stored), (file) => ({
      bytes: (span) => {
        read += 1;
        return file.bytes(span);
      },
    }));
    const ask = await site({ storage });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask("GET", "/index.html", browser)));
    expect(answers.map(({ bytes }) => brotliDecompressSync(bytes).toString())).toEqual(Array(10).fill(page));
    expect(read).toBe(1);
    await ask("PUT", "/index.html", {}, page.toUpperCase());
    const { bytes } = await ask("GET", "/index.html", browser);
    expect([brotliDecompressSync(bytes).toString(), read]).toEqual([page.toUpperCase(), 2]);
  });

  it("reads no more of a large file than the client takes, and stops when it leaves", async () => {
    let given = 0;
    let source: Readable | undefined;
    const endless = memoryStorage({ "/large.txt": Buffer.alloc(64 * 1024 * 1024, "text that repeats itself ") });
    const storage = withFiles(endless, (file) => ({
      stream: (span) => {
        source = file.stream(span).on("data", ({ length }: Buffer) => {
          given += length;
        });
        return source.pause();
      },
    }));
    const files = createFileServer({ storage, compress: true });
    const headers = { "accept-encoding": "gzip" };
    const response = await files.fetch(new Request("http://localhost/large.txt", { headers }));
    const reader = response.body?.getReader();
    await reader?.read();
    const left = new Promise((resolve) => source?.once("close", resolve));
    await reader?.cancel();
    await left;
    expect(given).toBeGreaterThan(0);
    expect(given).toBeLessThan(48 * 1024 * 1024);
    await files.close();
  });

  it("does not make a file that cannot be read to its end look complete", async () => {
    const broken = withFiles(memoryStorage(stored), () => ({
      stream: () => {
        const stream = new PassThrough();
        stream.write("the beginning");
        stream.destroy(new Error("the disk is gone"));
        return stream;
      },
    }));
    const files = createFileServer({ storage: broken, compress: true, onError: () => {} });
    const response = await files.fetch(new Request("http://localhost/large.csv", { headers: browser }));
    await expect(response.text()).rejects.toThrow();
    await files.close();
  });

  it("sends large files as they are while a hundred are being compressed for clients that read slowly", async () => {
    const files = createFileServer({ storage: memoryStorage(stored), compress: true });
    const ask = (path: string): Promise<Response> =>
      files.fetch(new Request(`http://localhost${path}`, { headers: { "accept-encoding": "gzip" } }));
    const slow = await Promise.all(Array.from({ length: 100 }, () => ask("/large.csv")));
    const codings = async (): Promise<(string | null)[]> => {
      const replies = await Promise.all(["/large.csv", "/index.html"].map(ask));
      await Promise.all(replies.map((reply) => reply.text()));
      return replies.map(({ headers }) => headers.get("content-encoding"));
    };
    expect(new Set(slow.map(({ headers }) => headers.get("content-encoding")))).toEqual(new Set(["gzip"]));
    expect(await codings()).toEqual([null, "gzip"]);
    await Promise.all(slow.map(({ body }) => body?.cancel()));
    await expect.poll(codings).toEqual(["gzip", "gzip"]);
    await files.close();
  });
});

describe("compressedBytes", () => {
  it("tries again what could not be read", async () => {
    const file = await memoryStorage(stored).open("/index.html");
    if (!file) throw new Error("no file");
    const failing: OpenFile = { ...file, stat: file.stat, bytes: () => Promise.reject(new Error("busy")) };
    await expect(compressedBytes(failing, "gzip")).rejects.toThrow("busy");
    expect(gunzipSync(await compressedBytes(file, "gzip")).toString()).toBe(page);
  });
});

const [br, gz] = [brotliCompressSync(page), gzipSync(page)];
/** A site of a page with two compressed forms of it, of one age unless `ages` says otherwise (seconds). */
async function siteWithVariants(
  ages: Readonly<Record<string, number>> = {},
  config: FileServerConfig = {},
): Promise<Asks> {
  const root = await temporaryDirectory();
  const files = { "index.html": page, "index.html.br": br, "index.html.gz": gz, "alone.txt": "plain" };
  const now = Date.now() / 1000;
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(root, name), content);
    await utimes(join(root, name), now, now - (ages[name] ?? 0));
  }
  const { url } = await serve({ root, precompressed: true, ...config });
  return (method, path, headers = {}, body) => send(url, method, path, { headers, body });
}

describe("a file that lies compressed beside another", () => {
  it.each([
    ["gzip, deflate, br", "br", br],
    ["gzip", "gzip", gz],
    ["br;q=0.5, gzip", "gzip", gz],
    ["br;q=0, *", "gzip", gz],
    ["zstd", undefined, Buffer.from(page)],
    ["identity, br;q=0.5", undefined, Buffer.from(page)],
    ["", undefined, Buffer.from(page)],
  ])("is sent to clients that take it: %j", async (accepted, coding, content) => {
    const ask = await siteWithVariants();
    const { status, headers, bytes } = await ask("GET", "/index.html", { "accept-encoding": accepted });
    expect([status, headers["content-encoding"], headers["vary"]]).toEqual([200, coding, "range, accept-encoding"]);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-length": String(content.length),
    });
    expect(bytes.equals(content)).toBe(true);
  });

  it("is sent for the index of a directory, and described to HEAD", async () => {
    const ask = await siteWithVariants();
    const { headers, bytes } = await ask("GET", "/", { ...browser, accept: "text/html" });
    expect(brotliDecompressSync(bytes).toString()).toBe(page);
    expect(headers["vary"]).toBe("accept, authorization, range, accept-encoding");
    expect((await ask("HEAD", "/index.html", browser)).headers).toMatchObject({
      "content-encoding": "br",
      "content-length": String(br.length),
    });
  });

  it("has a tag of its own for caches, and ranges of its bytes", async () => {
    const ask = await siteWithVariants();
    const tags = await tagsBy(ask);
    const [tag = ""] = tags;
    const cached = await ask("GET", "/index.html", { ...browser, "if-none-match": tag });
    expect(cached).toMatchObject({ status: 304, headers: { etag: tag, vary: "range, accept-encoding" } });
    expect((await ask("GET", "/index.html", { "if-none-match": tag })).status).toBe(200);
    const part = await ask("GET", "/index.html", { ...browser, range: "bytes=2-5", "if-range": tag });
    expect(part).toMatchObject({ status: 206, headers: { "content-encoding": "br" } });
    expect(part.bytes.equals(br.subarray(2, 6))).toBe(true);
    const whole = await ask("GET", "/index.html", { range: "bytes=2-5", "if-range": tag });
    expect(whole.status).toBe(200);
  });

  it("is not used once it is older than the file, until somebody makes a new one", async () => {
    const ask = await siteWithVariants({ "index.html.br": 60 });
    expect((await ask("GET", "/index.html", browser)).headers["content-encoding"]).toBe("gzip");
    await ask("PUT", "/index.html", {}, "<p>new");
    const { headers, text } = await ask("GET", "/index.html", browser);
    expect([headers["content-encoding"], text]).toEqual([undefined, "<p>new"]);
    await ask("PUT", "/index.html.br", {}, "compressed");
    expect(await ask("GET", "/index.html", browser)).toMatchObject({
      text: "compressed",
      headers: { "content-encoding": "br" },
    });
  });

  it("lets a client that was sent it change the file under the tag that it got", async () => {
    const ask = await siteWithVariants();
    const tag = (await ask("GET", "/index.html", browser)).headers.etag ?? "";
    const element = { range: "selector=#list", "if-match": tag };
    expect((await ask("POST", "/index.html", element, "<li>new</li>")).status).toBe(206);
    expect((await ask("PUT", "/index.html", { "if-match": tag }, "again")).status).toBe(412);
    const newTag = (await ask("GET", "/index.html", browser)).headers.etag ?? "";
    expect((await ask("PUT", "/index.html", { "if-match": newTag }, "again")).status).toBe(200);
  });

  it("has no part in requests for elements", async () => {
    const ask = await siteWithVariants();
    const { status, headers, text } = await ask("GET", "/index.html", { ...browser, range: "selector=li:first-child" });
    expect([status, headers["content-encoding"], text]).toEqual([206, undefined, "<li>item</li>"]);
  });

  it("is a file like others under its own name", async () => {
    const ask = await siteWithVariants();
    const { headers, bytes } = await ask("GET", "/index.html.gz");
    expect([headers["content-encoding"], bytes.equals(gz)]).toEqual([undefined, true]);
  });

  it("is sent only where the option is on", async () => {
    const ask = await siteWithVariants({}, { precompressed: false });
    const { headers, text } = await ask("GET", "/index.html", browser);
    expect([headers["content-encoding"], headers["vary"], text]).toEqual([undefined, "range", page]);
  });

  it("is not needed", async () => {
    const ask = await siteWithVariants();
    const { headers, text } = await ask("GET", "/alone.txt", browser);
    expect([headers["content-encoding"], headers["vary"], text]).toEqual([undefined, "accept-encoding", "plain"]);
  });
});
