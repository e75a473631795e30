import { describe, expect, it } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import { s3Storage } from "../../../src/storage/s3/s3-storage.ts";
import type { StoredEntry } from "../../../src/storage/storage.ts";
import { storeRequests } from "../../helpers/store-requests.ts";
import { testBucket } from "../../helpers/test-bucket.ts";
import { textAt } from "../content.ts";

/** More than is kept in memory; a comment is parsed at once. */
const large = `<!doctype html><title>T</title><!--${"long ".repeat(40_000)}-->`;

/** A server over a bucket, and what its store was asked for since the last look. */
async function asked(files: Readonly<Record<string, string>>) {
  const { options } = await testBucket(files);
  const storage = s3Storage(options);
  const server = createFileServer({ storage });
  await server.ready();
  const sent = storeRequests();
  const names = (): string[] => sent.splice(0).map(({ name }) => name);
  const requests = async (path: string, init?: RequestInit): Promise<string> => {
    names();
    const response = await server.fetch(new Request(`http://localhost${path}`, init));
    await response.arrayBuffer();
    return `${response.status}: ${names().join(" ")}`;
  };
  return { storage, server, requests, names };
}

const elements = { range: "selector=title" };

describe("what an S3 storage asks of its store", { tags: ["versitygw"] }, () => {
  it("is one request for a file, without its content for one that is at hand", async () => {
    const { requests, server } = await asked({ "/small.txt": "small", "/large.html": large });
    expect([await requests("/small.txt"), await requests("/small.txt")]).toEqual(["200: get", "200: head"]);
    expect([await requests("/large.html"), await requests("/large.html")]).toEqual(["200: get", "200: get"]);
    await server.close();
  });

  it("is a HEAD for HEAD, for a range the range, and no content for what the client has", async () => {
    const { requests, storage, server } = await asked({ "/large.html": large });
    const etag = `"${(await storage.stat("/large.html"))?.version}"`;
    expect(await requests("/large.html", { method: "HEAD" })).toBe("200: head");
    expect(await requests("/large.html", { headers: { range: "bytes=5-9" } })).toBe("206: head get");
    expect(await requests("/large.html", { headers: { "if-none-match": etag } })).toBe("304: head");
    await server.close();
  });

  it("is no content for elements of a page that is parsed", async () => {
    const { requests, server } = await asked({ "/large.html": large, "/small.html": "<title>T</title>" });
    expect(await requests("/large.html", { headers: elements })).toBe("206: get");
    expect(await requests("/large.html", { headers: elements })).toBe("206: head");
    expect(await requests("/small.html", { headers: elements })).toBe("206: get");
    await server.close();
  });

  it("is one look and one write for a change", async () => {
    const { requests, server } = await asked({ "/a.txt": "a", "/page.html": "<title>T</title>", "/dir/b.txt": "" });
    const init = { method: "PUT", body: "<title>U</title>" };
    expect(await requests("/a.txt", { method: "PUT", body: "b" })).toBe("200: head put");
    expect(await requests("/new.txt", { method: "PUT", body: "b" })).toBe("201: head list put");
    expect(await requests("/dir/new.txt", { method: "PUT", body: "b" })).toBe("201: head list list put");
    expect(await requests("/dir/next.txt", { method: "PUT", body: "b" })).toBe("201: head list put");
    expect(await requests("/x/y/new.txt", { method: "PUT", body: "b" })).toBe("201: head list list head list head put");
    expect(await requests("/page.html", { ...init, headers: elements })).toBe("206: get put");
    expect(await requests("/a.txt", { method: "DELETE" })).toBe("204: head delete");
    expect(await requests("/dir/b.txt", { method: "DELETE" })).toBe("204: head put delete");
    await server.close();
  });

  it("is one PUT for a new file where nothing was seen a moment ago, unless a directory has come since", async () => {
    const { requests, server } = await asked({});
    const init = { method: "PUT", body: "new" };
    expect(await requests("/new.txt", { method: "HEAD" })).toBe("404: head head list");
    expect(await requests("/new.txt", init)).toBe("201: put");
    expect(await requests("/new.txt", init)).toBe("200: put");
    expect(await requests("/new", { method: "HEAD" })).toBe("404: head head list");
    expect(await requests("/new/inner.txt", init)).toBe("201: head list list head put");
    expect(await requests("/new", init)).toBe("405: head list");
    await server.close();
  });

  it("is the content once more for an append, and a copy within the store to a large file", async () => {
    const { requests, server } = await asked({ "/a.txt": "a", "/large.txt": "large ".repeat(1024 * 1024) });
    expect(await requests("/a.txt", { method: "POST", body: "b" })).toBe("200: head get put");
    expect(await requests("/large.txt", { method: "POST", body: "b" })).toBe(
      "200: head begin-upload copy-part upload-part complete-upload",
    );
    await server.close();
  });

  it("is a HEAD for a health check", async () => {
    const { storage, server, names } = await asked({});
    await storage.check?.();
    expect(names().at(-1)).toBe("head");
    await server.close();
  });

  it("is a list, the index file, and the properties of each entry for a listing", async () => {
    const { requests, server } = await asked({ "/dir/a.txt": "a", "/dir/sub/b.txt": "" });
    const [status, ...names] = (await requests("/dir/")).split(" ");
    // Entries are measured together, in no certain order.
    expect([status, ...names.sort()]).toEqual(["200:", "get", "head", "head", "list", "list", "list"]);
    expect(await requests("/dir/", { method: "HEAD" })).toBe("200: list head");
    await server.close();
  });

  it("is shared by those who ask for a small file at the same time", async () => {
    const { storage, server, names } = await asked({ "/small.txt": "small" });
    await textAt(storage, "/small.txt");
    names();
    expect(await Promise.all(Array.from({ length: 50 }, () => textAt(storage, "/small.txt")))).toEqual(
      Array(50).fill("small"),
    );
    expect(names()).toHaveLength(2);
    await server.close();
  });

  it("is one list more for a page of a directory of very many, and each name is on one page", {
    tags: ["campaign"],
  }, async () => {
    const names = Array.from({ length: 1200 }, (_, index) => `/${index}.txt`);
    const { requests, server } = await asked(Object.fromEntries(["/5/a.txt", ...names].map((path) => [path, ""])));
    const json = { headers: { accept: "application/json" } };
    const lists = async (path: string): Promise<number> =>
      (await requests(path, json)).split(" ").filter((name) => name === "list").length;
    expect([await lists("/?limit=10"), await lists("/?limit=10&after=50.txt&by=key")]).toEqual([2, 2]);
    const found: string[] = [];
    for (let next: string | undefined = "?limit=300"; next !== undefined; ) {
      const page = await (await server.fetch(new Request(`http://localhost/${next}`, json))).json();
      for (const { name, type } of page.entries) found.push(type === "directory" ? `/${name}/` : `/${name}`);
      next = page.next;
    }
    expect(found).toEqual(["/5/", ...names].sort());
    await server.close();
  });

  it("begins behind any entry, in the order of keys", async () => {
    const keys = ["/A", "/a.txt", "/a/x", "/a/y", "/a0", "/b", "/\ufb01", "/\u{1f600}"];
    const { storage, server } = await asked(Object.fromEntries(keys.map((path) => [path, ""])));
    const entriesBehind = async (after?: StoredEntry): Promise<StoredEntry[]> => {
      const found: StoredEntry[] = [];
      for await (const entry of storage.list("/", after)) found.push(entry);
      return found;
    };
    const entries = await entriesBehind();
    expect(entries.map(({ name }) => name)).toEqual(["A", "a.txt", "a", "a0", "b", "\ufb01", "\u{1f600}"]);
    for (const [index, entry] of entries.entries()) {
      expect(await entriesBehind(entry)).toEqual(entries.slice(index + 1));
    }
    await server.close();
  });
});
