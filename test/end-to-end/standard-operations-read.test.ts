import { once } from "node:events";
import { truncate, utimes, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { open, send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { onDisk, storages, testSite } from "../helpers/test-site.ts";

const past = "Mon, 01 Jan 1990 00:00:00 GMT";

describe.each(storages)("reading a file $where", ({ make }) => {
  it("sends every byte as it is stored, whatever it is", async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7 + (index >> 8)) % 256));
    const site = await testSite(await make({ "/all.bin": bytes, "/empty.bin": "" }));
    const whole = await site.send("GET", "/all.bin");
    const empty = await site.send("GET", "/empty.bin");
    expect(whole.headers["content-length"]).toBe("300000");
    expect(whole.bytes.equals(bytes)).toBe(true);
    expect({ length: empty.headers["content-length"], bytes: empty.bytes.length }).toEqual({ length: "0", bytes: 0 });
  });

  it("lets the option contentTypes come before the table", async () => {
    const site = await testSite(await make({ "/a.md": "# hi" }), { contentTypes: { ".md": "text/x-notes" } });
    expect((await site.send("GET", "/a.md")).headers["content-type"]).toBe("text/x-notes");
  });

  it("sends a file whatever Accept says, never 406", async () => {
    const site = await testSite(await make({ "/a.txt": "hi" }));
    const accepts = ["application/json", "image/png;q=1, */*;q=0", "text/plain;q=0", "rubbish"];
    const answers = await Promise.all(accepts.map((accept) => site.send("GET", "/a.txt", { headers: { accept } })));
    expect(answers.map(({ status, text }) => [status, text])).toEqual(accepts.map(() => [200, "hi"]));
  });

  it("sends validators, says that it takes ranges, and has caches ask before they reuse", async () => {
    const site = await testSite(await make({ "/a.html": "<p>hi", "/a.txt": "hi" }));
    const [page, text] = await Promise.all([site.send("GET", "/a.html"), site.send("GET", "/a.txt")]);
    expect(page.headers).toMatchObject({
      etag: expect.stringMatching(/^"[\w-]+"$/),
      "last-modified": expect.stringMatching(/ GMT$/),
      "accept-ranges": "selector, bytes",
      "cache-control": "no-cache",
      vary: expect.stringMatching(/range/i),
    });
    expect(text.headers["accept-ranges"]).toBe("bytes");
  });

  it("keeps the entity tag while nothing changes, and changes it with every change", async () => {
    const site = await testSite(await make({ "/a.txt": "one" }));
    const tagNow = async (): Promise<unknown> => (await site.send("HEAD", "/a.txt")).headers.etag;
    const tags = [await tagNow(), await tagNow()];
    for (const body of ["two", "one", "one"]) {
      await site.send("PUT", "/a.txt", { body });
      tags.push(await tagNow());
    }
    expect(tags[0]).toBe(tags[1]);
    expect(new Set(tags).size).toBe(4);
  });

  it("answers 404 for what is not there, and for a file with a slash after it", async () => {
    const site = await testSite(await make({ "/a.txt": "hi" }));
    for (const path of ["/b.txt", "/a.txt/", "/a.txt/b", "/no/such/file"]) {
      for (const method of ["GET", "HEAD"]) expect((await site.send(method, path)).status).toBe(404);
    }
    const { headers, text } = await site.send("GET", "/a.txt/");
    expect(headers["content-type"]).toBe("application/json");
    expect(JSON.parse(text)).toMatchObject({ error: "Not Found", code: "NOT_FOUND" });
  });

  describe("with conditions", () => {
    const other = '"other"';
    it.each<[string, number, (tag: string, date: string) => Record<string, string>]>([
      ["If-Match names the tag", 200, (tag) => ({ "if-match": tag })],
      ["If-Match names another tag", 412, () => ({ "if-match": other })],
      ["If-Unmodified-Since is before it", 412, () => ({ "if-unmodified-since": past })],
      ["If-None-Match names the tag", 304, (tag) => ({ "if-none-match": tag })],
      ["If-None-Match names it as a weak one", 304, (tag) => ({ "if-none-match": `${other}, W/${tag}` })],
      ["If-Modified-Since is its date", 304, (_tag, date) => ({ "if-modified-since": date })],
      ["If-Modified-Since is before it", 200, () => ({ "if-modified-since": past })],
      ["If-Match fails before If-None-Match is looked at", 412, (tag) => ({ "if-match": other, "if-none-match": tag })],
      ["If-Match holds and If-None-Match names the tag", 304, (tag) => ({ "if-match": tag, "if-none-match": tag })],
    ])("%s: %i, for GET as for HEAD", async (_condition, status, conditions) => {
      const site = await testSite(await make({ "/a.txt": "hello" }));
      const { etag = "", "last-modified": date = "" } = (await site.send("HEAD", "/a.txt")).headers;
      const headers = conditions(etag, date);
      const answers = await Promise.all(["GET", "HEAD"].map((method) => site.send(method, "/a.txt", { headers })));
      expect(answers.map((answer) => answer.status)).toEqual([status, status]);
      expect(answers.map((answer) => answer.headers.etag)).toEqual([etag, etag]);
    });

    it("sends 304 with what caches need, without content and its description", async () => {
      const site = await testSite(await make({ "/a.html": "<p>hello" }));
      const { etag = "" } = (await site.send("GET", "/a.html")).headers;
      const { status, headers, bytes } = await site.send("GET", "/a.html", { headers: { "if-none-match": etag } });
      expect({ status, length: bytes.length }).toEqual({ status: 304, length: 0 });
      expect(headers).toMatchObject({ etag, "cache-control": "no-cache", vary: "range" });
      expect(Object.keys(headers).filter((name) => /^content-/.test(name))).toEqual([]);
    });

    it("answers 404 for a missing file whatever the conditions are", async () => {
      const site = await testSite(await make());
      const headers = { "if-match": "*", "if-none-match": "*" };
      expect((await site.send("GET", "/no.txt", { headers })).status).toBe(404);
    });
  });
});

describe("a file that changes while it is sent", () => {
  const size = 20 * 1024 * 1024; // more than all buffers between server and client hold

  async function halfRead(content: Buffer) {
    const directory = await temporaryDirectory();
    const site = await testSite(await onDisk(directory, { "/big.bin": content }));
    const outgoing = open(site.url, "GET", "/big.bin");
    outgoing.end();
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    return { site, incoming, location: join(directory, "big.bin") };
  }

  it("is cut off where it shrinks, and never padded", async () => {
    const { site, incoming, location } = await halfRead(Buffer.alloc(size));
    await truncate(location, 1000);
    await expect(buffer(incoming)).rejects.toThrow("aborted");
    await site.ended(1);
    expect(site.outcomes[0]).toMatchObject({ status: 200, aborted: true });
    expect(site.outcomes[0]?.bytes).toBeLessThan(size);
  });

  it.each([
    ["replaced", "PUT", "new"],
    ["appended to", "POST", "more"],
    ["deleted", "DELETE", undefined],
  ])("is sent as it was where it is %s", async (_what, method, body) => {
    const { site, incoming } = await halfRead(Buffer.alloc(size, "old"));
    expect((await site.send(method, "/big.bin", { body })).status).toBeLessThan(300);
    expect((await buffer(incoming)).equals(Buffer.alloc(size, "old"))).toBe(true);
    const { status, headers } = await site.send("HEAD", "/big.bin");
    expect([status, headers["content-length"]]).not.toEqual([200, String(size)]);
  });

  it("has another tag and date when someone else changes it on the disk", async () => {
    const { site, incoming, location } = await halfRead(Buffer.from("old"));
    incoming.resume();
    await writeFile(location, "changed by another program");
    const { headers, text } = await site.send("GET", "/big.bin");
    expect(text).toBe("changed by another program");
    expect(headers.etag).not.toBe(incoming.headers.etag);
  });
});

describe("a file whose date lies ahead of the clock", () => {
  it("is sent without Last-Modified, and never answered 304 by its date", async () => {
    const root = await temporaryDirectory();
    const ahead = new Date(Date.now() + 3_600_000);
    await writeFile(join(root, "a.html"), "<p>a</p>");
    await utimes(join(root, "a.html"), ahead, ahead);
    const { url } = await serve({ root });
    const whole = await send(url, "GET", "/a.html");
    const elements = await send(url, "GET", "/a.html", { headers: { range: "selector=p" } });
    const stated = [whole, elements].map(({ status, headers }) => [status, headers["last-modified"]]);
    expect(stated).toEqual([
      [200, undefined],
      [206, undefined],
    ]);
    const again = await send(url, "GET", "/a.html", { headers: { "if-modified-since": ahead.toUTCString() } });
    expect(again.status).toBe(200);
  });
});
