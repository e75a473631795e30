import { describe, expect, it } from "vitest";
import { rawRequest } from "../helpers/serve.ts";
import { storages, testSite } from "../helpers/test-site.ts";

const json = { headers: { accept: "application/json" } };
const locationIn = (head: string): string | undefined => /^location: (.*)$/im.exec(head)?.[1];

describe.each(storages)("reading a directory $where", ({ make }) => {
  const files = { "/index.html": "<p>home", "/docs/a.txt": "a", "/docs/b/c.txt": "c", "/pages/index.html": "<p>pages" };

  it.each([
    ["/docs", "/docs/"],
    ["/docs?x=1&y=%20", "/docs/?x=1&y=%20"],
    ["/docs/b", "/docs/b/"],
    ["/pages", "/pages/"],
    ["//docs", "/docs/"],
    ["///docs//b", "/docs/b/"],
    ["/docs/.", "/docs/"],
    ["/docs/b/..?q", "/docs/?q"],
    ["/%64ocs", "/docs/"],
  ])("redirects %s to %s", async (target, location) => {
    const site = await testSite(await make(files));
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, text } = await site.send(method, target);
      expect({ status, location: headers.location, text }).toEqual({ status: 301, location, text: "" });
      expect(headers["cache-control"]).toBe("no-cache");
    }
  });

  it.each([
    ["//evil.com", "/evil.com/"],
    ["///evil.com?x=//y", "/evil.com/?x=//y"],
    ["/.//evil.com", "/evil.com/"],
    ["/%2e/evil.com", "/evil.com/"],
    ["/%252e%252e", "/%252e%252e/"],
    ["//evil.com/..//evil.com", "/evil.com/"],
    ["/a%20b/%3Fc%23", "/a%20b/%3Fc%23/"],
    ["/na%C3%AFve", "/na%C3%AFve/"],
    ["http://127.0.0.1/evil.com?//other.example", "/evil.com/?//other.example"],
  ])("never redirects %s to another host, but to %s", async (target, location) => {
    const site = await testSite(await make({ "/evil.com/": "", "/%2e%2e/": "", "/a b/?c#/": "", "/naïve/": "" }));
    const { status, head } = await rawRequest(site.port, "GET", target);
    expect({ status, location: locationIn(head) }).toEqual({ status: 301, location });
  });

  it("sends the index file, with its own type, tag and date", async () => {
    const site = await testSite(await make(files));
    const [index, file] = [await site.send("GET", "/pages/"), await site.send("GET", "/pages/index.html")];
    expect(index).toMatchObject({ status: 200, text: "<p>pages" });
    for (const name of ["content-type", "etag", "last-modified", "accept-ranges"]) {
      expect(index.headers[name]).toBe(file.headers[name]);
    }
    const { etag = "" } = file.headers;
    expect((await site.send("GET", "/pages/", { headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await site.send("HEAD", "/")).headers["content-length"]).toBe("7");
  });

  it("tells caches that the index file is not for everyone who asks", async () => {
    const site = await testSite(await make(files));
    const { etag = "", vary = "" } = (await site.send("GET", "/")).headers;
    const unchanged = await site.send("GET", "/", { headers: { "if-none-match": etag } });
    expect(vary.split(", ").sort()).toEqual(["accept", "authorization", "range"]);
    expect(unchanged).toMatchObject({ status: 304, headers: { vary } });
  });

  it("gives the listing to a client that prefers JSON, also where there is an index file", async () => {
    const site = await testSite(await make(files));
    const { status, headers, text } = await site.send("GET", "/pages/", json);
    expect({ status, type: headers["content-type"] }).toEqual({ status: 200, type: "application/json" });
    expect(JSON.parse(text)).toMatchObject({
      path: "/pages/",
      entries: [{ name: "index.html", type: "file", size: 8, etag: expect.any(String), modified: expect.any(String) }],
    });
  });

  it("lists a directory without an index file, as a page unless JSON is preferred", async () => {
    const site = await testSite(await make(files));
    const page = await site.send("GET", "/docs/");
    expect(page).toMatchObject({ status: 200, headers: { "content-type": "text/html; charset=utf-8" } });
    expect(page.text).toContain("./a.txt");
    const { entries } = JSON.parse((await site.send("GET", "/docs/", json)).text);
    expect(entries.map((entry: { name: string }) => entry.name)).toEqual(["b", "a.txt"]);
    expect(await site.send("HEAD", "/docs/")).toMatchObject({ status: 200, text: "" });
  });

  it("gives the tag of each file in the listing", async () => {
    const site = await testSite(await make(files));
    const { entries } = JSON.parse((await site.send("GET", "/docs/", json)).text);
    expect(entries[1].etag).toBe((await site.send("HEAD", "/docs/a.txt")).headers.etag);
  });

  it("lists an empty root", async () => {
    const site = await testSite(await make());
    expect(JSON.parse((await site.send("GET", "/", json)).text)).toEqual({ path: "/", entries: [] });
  });

  it("answers 403 where listings are off, but still sends index files, even to those who prefer JSON", async () => {
    const site = await testSite(await make(files), { listing: false });
    const answer = await site.send("GET", "/docs/");
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text).code).toBe("LISTING_DISABLED");
    expect(await site.send("GET", "/pages/", json)).toMatchObject({ status: 200, text: "<p>pages" });
  });

  it("lists instead of the index file with `index: false`, and takes another name for it", async () => {
    const without = await testSite(await make(files), { index: false });
    expect((await without.send("GET", "/pages/")).text).toContain("./index.html");
    const named = await testSite(await make({ "/a/home.txt": "welcome", ...files }), { index: "home.txt" });
    expect(await named.send("GET", "/a/")).toMatchObject({
      text: "welcome",
      headers: { "content-type": "text/plain; charset=utf-8" },
    });
    expect((await named.send("GET", "/pages/")).text).toContain("./index.html");
  });

  it("does not take a directory of that name for an index file", async () => {
    const site = await testSite(await make({ "/a/index.html/x.txt": "" }));
    expect((await site.send("GET", "/a/")).text).toContain("./index.html/");
  });

  it("answers 404 for a directory that is not there", async () => {
    const site = await testSite(await make(files));
    for (const target of ["/no/", "/docs/no/", "/docs/a.txt/"])
      expect((await site.send("GET", target)).status).toBe(404);
  });
});
