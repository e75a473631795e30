import { describe, expect, it } from "vitest";
import { DocumentCache } from "../../src/elements/document-cache.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { DocumentError } from "../../src/html/document-error.ts";
import { parseHtml } from "../helpers/parse-html.ts";

const document = await parseHtml("<p>a");
const load = (): SourceDocument => document;

describe("DocumentCache", () => {
  it("loads a version once", async () => {
    const cache = new DocumentCache();
    expect(await cache.get("/a", "1", load)).toBe(document);
    expect(await cache.get("/a", "1", () => Promise.reject(new Error("loaded again")))).toBe(document);
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
    await Promise.all([cache.get("/a", "1", slowly), cache.get("/a", "1", slowly), cache.get("/a", "1", slowly)]);
    expect([loads, cache.hits, cache.misses]).toEqual([1, 2, 1]);
  });

  it("tells versions and paths apart", async () => {
    const cache = new DocumentCache();
    const other = await parseHtml("<p>b");
    cache.set("/a", "1", document);
    expect(await cache.get("/a", "2", () => other)).toBe(other);
    expect(await cache.get("/b", "1", () => other)).toBe(other);
  });

  it("knows the result of an edit without a parse", async () => {
    const cache = new DocumentCache();
    cache.set("/a", "2", document);
    expect(await cache.get("/a", "2", () => Promise.reject(new Error("loaded")))).toBe(document);
  });

  it("remembers that a version cannot be parsed", async () => {
    const cache = new DocumentCache();
    const refuse = (): Promise<never> => Promise.reject(new DocumentError("DOCUMENT_TOO_COSTLY", "no"));
    await expect(cache.get("/a", "1", refuse)).rejects.toThrow("no");
    await expect(cache.get("/a", "1", load)).rejects.toThrow("no");
    expect(await cache.get("/a", "2", load)).toBe(document);
    expect(await cache.get("/b", "1", load)).toBe(document);
  });

  it("forgets a failed parse", async () => {
    const cache = new DocumentCache();
    await expect(cache.get("/a", "1", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await cache.get("/a", "1", load)).toBe(document);
  });

  it("holds no more memory than it may", async () => {
    const cache = new DocumentCache({ maxBytes: document.memoryBytes * 3 });
    for (const path of ["/a", "/b", "/c", "/d"]) await cache.get(path, "1", load);
    await cache.get("/d", "1", load);
    await cache.get("/a", "1", load);
    expect([cache.hits, cache.misses]).toEqual([1, 5]);
  });
});
