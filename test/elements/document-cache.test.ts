import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { DocumentCache } from "../../src/elements/document-cache.ts";
import { createFileServer } from "../../src/file-server.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { DocumentError } from "../../src/html/document-error.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { deferred } from "../helpers/deferred.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { send, serveOne } from "./editing.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const document = await parseHtml("<p>a");
const load = (): SourceDocument => document;

async function get(cache: DocumentCache, ...asked: Parameters<DocumentCache["hold"]>): Promise<SourceDocument> {
  return (await cache.hold(...asked)).document;
}

describe("DocumentCache", () => {
  it("loads a version once", async () => {
    const cache = new DocumentCache();
    expect(await get(cache, "/a", "1", load)).toBe(document);
    expect(await get(cache, "/a", "1", () => Promise.reject(new Error("loaded again")))).toBe(document);
    expect([cache.hits, cache.misses]).toEqual([1, 1]);
  });

  it("lets concurrent requests wait for one parse", async () => {
    const cache = new DocumentCache();
    let loads = 0;
    const slowly = async (): Promise<SourceDocument> => {
      loads += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return document;
    };
    await Promise.all([get(cache, "/a", "1", slowly), get(cache, "/a", "1", slowly), get(cache, "/a", "1", slowly)]);
    expect([loads, cache.hits, cache.misses]).toEqual([1, 2, 1]);
  });

  it("tells versions and paths apart", async () => {
    const cache = new DocumentCache();
    const other = await parseHtml("<p>b");
    cache.set("/a", "1", document);
    expect(await get(cache, "/a", "2", () => other)).toBe(other);
    expect(await get(cache, "/b", "1", () => other)).toBe(other);
  });

  it("knows the result of an edit without a parse", async () => {
    const cache = new DocumentCache();
    cache.set("/a", "2", document);
    expect(await get(cache, "/a", "2", () => Promise.reject(new Error("loaded")))).toBe(document);
  });

  it("keeps the result of an edit that was made while an older version was being parsed", async () => {
    const cache = new DocumentCache();
    const older = await parseHtml("<p>b");
    const loaded = get(cache, "/a", "1", async () => {
      cache.set("/a", "2", document);
      return older;
    });
    expect(await loaded).toBe(older);
    expect(await get(cache, "/a", "2", () => Promise.reject(new Error("loaded")))).toBe(document);
  });

  it("remembers that a version cannot be parsed", async () => {
    const cache = new DocumentCache();
    const refuse = (): Promise<never> => Promise.reject(new DocumentError("DOCUMENT_TOO_COSTLY", "no"));
    await expect(get(cache, "/a", "1", refuse)).rejects.toThrow("no");
    await expect(get(cache, "/a", "1", load)).rejects.toThrow("no");
    expect(await get(cache, "/a", "2", load)).toBe(document);
    expect(await get(cache, "/b", "1", load)).toBe(document);
  });

  it("loads itself what another request could not read any more", async () => {
    const cache = new DocumentCache();
    const failing = get(cache, "/a", "1", () => Promise.reject(new Error("changed meanwhile")));
    const waiting = get(cache, "/a", "1", load);
    await expect(failing).rejects.toThrow("changed meanwhile");
    expect(await waiting).toBe(document);
  });

  it("forgets a failed parse", async () => {
    const cache = new DocumentCache();
    await expect(get(cache, "/a", "1", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await get(cache, "/a", "1", load)).toBe(document);
  });

  it("gives the nodes of a document away only while nobody works with it, and knows it no more then", async () => {
    const cache = new DocumentCache();
    const [page, again] = [await parseHtml("<p>a"), await parseHtml("<p>a")];
    const [first, second] = [await cache.hold("/a", "1", () => page), await cache.hold("/a", "1", load)];
    expect(first.document).toBe(second.document);
    first.release();
    first.release();
    expect(cache.take("/a", page)).toBe(false);
    second.release();
    expect(cache.take("/a", page)).toBe(true);
    expect(cache.take("/a", page)).toBe(false);
    expect(await get(cache, "/a", "1", () => again)).toBe(again);
  });

  it("gives no document that was taken while it was waited for", async () => {
    const cache = new DocumentCache();
    const [page, again] = [await parseHtml("<p>a"), await parseHtml("<p>a")];
    const { promise: loading, resolve } = deferred<SourceDocument>();
    void loading.then((loaded) => expect(cache.take("/a", loaded)).toBe(true));
    const loads = [loading, again];
    const waiting = [1, 2].map(() => get(cache, "/a", "1", () => loads.shift() ?? page));
    resolve(page);
    for (const each of waiting) expect(await each).toBe(again);
    expect(loads).toEqual([]);
  });

  it("keeps the latest document, larger than all of it, until memory is needed", async () => {
    const cache = new DocumentCache(1);
    let parsed = 0;
    const parse = (): Promise<SourceDocument> => {
      parsed += 1;
      return parseHtml("<p>a");
    };
    const [first, second] = [await cache.hold("/a", "1", parse), await cache.hold("/a", "1", parse)];
    expect([second.document === first.document, parsed]).toEqual([true, 1]);
    first.release();
    second.release();
    expect(cache.take("/a", first.document)).toBe(true);
    expect((await cache.hold("/a", "1", parse)).document).not.toBe(first.document);
    expect((await cache.hold("/a", "2", parse)).document).not.toBe(first.document);
    expect(parsed).toBe(3);
    await new Promise((resolve) => setImmediate(resolve)); // a WeakRef holds its target to the end of the turn
    collectGarbage();
    await cache.hold("/a", "2", parse);
    expect(parsed).toBe(4);
  });

  it("knows which versions an edit has taken, or has made others of", async () => {
    const cache = new DocumentCache();
    expect(cache.isOutdated("/a", "1")).toBe(false); // nothing is known
    cache.set("/a", "1", document);
    const during = await cache.edit("/a", async () => [cache.isOutdated("/a", "1"), cache.isOutdated("/b", "1")]);
    expect([during, cache.isOutdated("/a", "1"), cache.isOutdated("/a", "0")]).toEqual([[true, false], false, true]);
    await expect(cache.edit("/a", () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    expect(cache.isOutdated("/a", "1")).toBe(false);
  });

  it("holds no more memory than it may", async () => {
    const cache = new DocumentCache(document.memoryBytes * 3);
    for (const path of ["/a", "/b", "/c", "/d"]) await get(cache, path, "1", load);
    await get(cache, "/d", "1", load);
    await get(cache, "/a", "1", load);
    expect([cache.hits, cache.misses]).toEqual([1, 5]);
  });
});

/** Status, and the elements or the code of the error. */
async function read(page: string, options: object = {}, path = "/page.html"): Promise<[number, string]> {
  const files = createFileServer({ storage: memoryStorage({ [path]: page }), ...options });
  const request = new Request(`http://localhost${path}`, { headers: { range: "selector=p" } });
  const response = await files.fetch(request);
  const body = await response.text();
  await files.close();
  return [response.status, response.status < 400 ? body : JSON.parse(body).code];
}

describe("loadDocument", () => {
  it("reads a document up to the size limit", async () => {
    expect(await read("<p>a", { maxDocumentSize: 4 })).toEqual([206, "<p>a"]);
  });

  it("refuses a larger one before it is parsed", async () => {
    expect(await read("<p>ab", { maxDocumentSize: 4 })).toEqual([413, "DOCUMENT_TOO_LARGE"]);
  });

  it("refuses one that nests too deep", async () => {
    expect(await read("<p>".repeat(3) + "<b>".repeat(600))).toEqual([422, "DOCUMENT_TOO_DEEP"]);
    expect(await read("<p><i><b>", { maxDocumentDepth: 4 })).toEqual([422, "DOCUMENT_TOO_DEEP"]);
  });

  it.each(["/page.html", "/page.HTM", "/page.xhtml", "/page.xml", "/page.svg"])("parses %s", async (path) => {
    expect(await read("<p>a</p>", {}, path)).toEqual([206, "<p>a</p>"]);
  });

  it.each(["/page.txt", "/page.json", "/page"])("says that %s has no elements", async (path) => {
    expect(await read("<p>a</p>", {}, path)).toEqual([416, "NOT_HTML"]);
  });
});

describe("parseLimits", () => {
  it.each(["GET", "PUT"])("bounds what %s parses", async (method) => {
    const files = serveOne("<b><b><b>", { maxDocumentDepth: 4 });
    const { status } = await send(files, method, "b", method === "PUT" ? "x" : undefined);
    expect(status).toBe(422);
    await files.close();
  });

  it("bounds what an edit makes of a page", async () => {
    const files = serveOne("<p>a</p>", { maxDocumentDepth: 4 });
    expect((await send(files, "POST", "p", "<b>x</b>")).status).toBe(206);
    expect((await send(files, "POST", "p", "<b><i>x</i></b>")).status).toBe(422);
    await files.close();
  });
});
