import { describe, expect, it } from "vitest";
import { endlessBody, pieces } from "../helpers/pieces.ts";
import { announce } from "../helpers/send.ts";
import { storages, testSite } from "../helpers/test-site.ts";

describe.each(storages)("PUT of a file $where", ({ make }) => {
  it("creates it: 201, Location, validators, and what was stored", async () => {
    const site = await testSite(await make());
    const { status, headers, text } = await site.send("PUT", "/a.txt", { body: "hello" });
    const now = (await site.send("HEAD", "/a.txt")).headers;
    expect({ status, location: headers.location, type: headers["content-type"] }).toEqual({
      status: 201,
      location: "/a.txt",
      type: "application/json",
    });
    expect(JSON.parse(text)).toEqual({ path: "/a.txt", size: 5, etag: headers.etag });
    expect([headers.etag, headers["last-modified"]]).toEqual([now.etag, now["last-modified"]]);
    expect(await site.textAt("/a.txt")).toBe("hello");
  });

  it("replaces it as a whole: 200, no Location, another tag", async () => {
    const site = await testSite(await make({ "/a.txt": "a long content" }));
    const before = (await site.send("HEAD", "/a.txt")).headers.etag;
    const { status, headers, text } = await site.send("PUT", "/a.txt", { body: "new" });
    expect({ status, location: headers.location, before }).not.toEqual({ status: 201, before: headers.etag });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ path: "/a.txt", size: 3, etag: headers.etag });
    expect(await site.textAt("/a.txt")).toBe("new");
  });

  it("stores every byte, sent in chunks or at once, and nothing at all", async () => {
    const site = await testSite(await make());
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 13) % 256));
    await site.send("PUT", "/at-once", { body: bytes });
    await site.send("PUT", "/in-chunks", { body: pieces("one ", "", "two ", "three") });
    await site.send("PUT", "/empty", { body: "" });
    expect((await site.send("GET", "/at-once")).bytes.equals(bytes)).toBe(true);
    expect(await site.textAt("/in-chunks")).toBe("one two three");
    expect(await site.textAt("/empty")).toBe("");
  });

  it("takes any Content-Type; what is sent back goes by the name", async () => {
    const site = await testSite(await make());
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    await site.send("PUT", "/a.json", { body: "{}", headers });
    expect(await site.send("GET", "/a.json")).toMatchObject({
      text: "{}",
      headers: { "content-type": "application/json" },
    });
  });

  it("makes missing parents, and percent-encodes the Location", async () => {
    const site = await testSite(await make());
    const { status, headers } = await site.send("PUT", "/new/na%C3%AFve%20dir/50%25%23%3F.txt", { body: "hi" });
    expect({ status, location: headers.location }).toEqual({
      status: 201,
      location: "/new/na%C3%AFve%20dir/50%25%23%3F.txt",
    });
    expect(await site.everything()).toEqual(["/new/", "/new/naïve dir/", "/new/naïve dir/50%#?.txt"]);
  });

  it("makes no parents with `createParents: false`: 409", async () => {
    const site = await testSite(await make({ "/dir/": "" }), { createParents: false });
    const refused = await site.send("PUT", "/no/a.txt", { body: "hi" });
    expect(refused.status).toBe(409);
    expect(JSON.parse(refused.text).code).toBe("NO_PARENT");
    expect((await site.send("PUT", "/dir/a.txt", { body: "hi" })).status).toBe(201);
    expect(await site.everything()).toEqual(["/dir/", "/dir/a.txt"]);
  });

  it.each([
    ["/dir", "GET, HEAD, POST, DELETE, MOVE, COPY, OPTIONS"],
    ["/dir/", "GET, HEAD, POST, DELETE, MOVE, COPY, OPTIONS"],
    ["/", "GET, HEAD, POST, OPTIONS"],
    ["/new/", "MKCOL, OPTIONS"],
    ["/dir/a.txt/", "MKCOL, OPTIONS"],
  ])("refuses to write a file at %s: 405 with Allow: %s", async (path, allow) => {
    const site = await testSite(await make({ "/dir/a.txt": "a" }));
    const { status, headers, text } = await site.send("PUT", path, { body: "hi" });
    expect({ status, code: JSON.parse(text).code, allow: headers.allow }).toEqual({
      status: 405,
      code: "IS_DIRECTORY",
      allow,
    });
    expect([await site.everything(), site.changes]).toEqual([["/dir/", "/dir/a.txt"], []]);
  });

  it("refuses a path that leads through a file: 409", async () => {
    const site = await testSite(await make({ "/a.txt": "a" }));
    for (const path of ["/a.txt/b.txt", "/a.txt/b/c.txt"]) {
      const { status, text } = await site.send("PUT", path, { body: "hi" });
      expect({ status, code: JSON.parse(text).code }).toEqual({ status: 409, code: "NOT_A_DIRECTORY" });
    }
    expect(await site.everything()).toEqual(["/a.txt"]);
  });

  describe("with conditions", () => {
    const past = "Mon, 01 Jan 1990 00:00:00 GMT";
    it.each<[string, string, number, (tag: string, date: string) => Record<string, string>]>([
      ["/a.txt", "If-Match names the tag", 200, (tag) => ({ "if-match": tag })],
      ["/a.txt", "If-Match names another tag", 412, () => ({ "if-match": '"other"' })],
      ["/a.txt", "If-None-Match is *", 412, () => ({ "if-none-match": "*" })],
      ["/a.txt", "If-Unmodified-Since is before it", 412, () => ({ "if-unmodified-since": past })],
      ["/a.txt", "If-Modified-Since, which is for reads", 200, (_, date) => ({ "if-modified-since": date })],
      ["/empty/", "If-Match is *", 204, () => ({ "if-match": "*" })],
      ["/empty/", "If-Match names a tag it has not", 412, () => ({ "if-match": '"other"' })],
      ["/new.txt", "If-Match is *", 412, () => ({ "if-match": "*" })],
      ["/new.txt", "If-None-Match is *", 201, () => ({ "if-none-match": "*" })],
      ["/new.txt", "If-Unmodified-Since is any date", 201, () => ({ "if-unmodified-since": past })],
    ])("on %s, where %s: %i", async (path, _condition, status, conditions) => {
      for (const method of { "/a.txt": ["PUT", "POST", "DELETE"], "/empty/": ["DELETE"] }[path] ?? ["PUT"]) {
        const site = await testSite(await make({ "/a.txt": "old", "/empty/": "" }));
        const before = await site.everything();
        const { etag = "", "last-modified": date = "" } = (await site.send("HEAD", path)).headers;
        const body = method === "DELETE" ? undefined : "new";
        const answer = await site.send(method, path, { body, headers: conditions(etag, date) });
        expect([method, answer.status]).toEqual([method, method === "DELETE" && status < 300 ? 204 : status]);
        if (status < 300) expect(site.changes).toHaveLength(1);
        else expect([await site.everything(), await site.textAt("/a.txt"), site.changes]).toEqual([before, "old", []]);
      }
    });

    it("answers 412 with the tag of what is stored, and none where nothing is", async () => {
      const site = await testSite(await make({ "/a.txt": "old" }));
      const { etag } = (await site.send("HEAD", "/a.txt")).headers;
      const sending = { body: "new", headers: { "if-match": '"other"' } };
      const [taken, free] = [await site.send("PUT", "/a.txt", sending), await site.send("PUT", "/b.txt", sending)];
      expect(JSON.parse(taken.text).code).toBe("PRECONDITION_FAILED");
      expect([taken.headers.etag, free.headers.etag]).toEqual([etag, undefined]);
    });

    it("refuses before the content is sent, to a client that waits for 100 Continue", async () => {
      const site = await testSite(await make({ "/a.txt": "old" }));
      const headers = { "if-none-match": "*", "content-length": "9", expect: "100-continue" };
      expect((await announce(site.url, "PUT", "/a.txt", headers)).status).toBe(412);
    });
  });

  it.each(["gzip", "identity, gzip"])("refuses content in the coding %s: 415", async (coding) => {
    const site = await testSite(await make({ "/a.txt": "old" }));
    const sending = { body: "new", headers: { "content-encoding": coding, "x-filename": "b.txt" } };
    const attempts = [
      ["PUT", "/a.txt"],
      ["PUT", "/b.txt"],
      ["POST", "/a.txt"],
      ["POST", "/"],
    ] as const;
    for (const [method, path] of attempts) {
      const answer = await site.send(method, path, sending);
      expect(answer).toMatchObject({ status: 415, headers: { "accept-encoding": "identity" } });
      expect(JSON.parse(answer.text).code).toBe("UNSUPPORTED_ENCODING");
    }
    expect([await site.everything(), await site.textAt("/a.txt")]).toEqual([["/a.txt"], "old"]);
  });

  it("takes content in the coding identity", async () => {
    const site = await testSite(await make());
    const headers = { "content-encoding": "Identity" };
    expect((await site.send("PUT", "/a.txt", { body: "hi", headers })).status).toBe(201);
  });

  describe("of which the size is limited", () => {
    it("refuses more before it is sent, where Content-Length says so: 413", async () => {
      const site = await testSite(await make({ "/a.txt": "old" }), { maxFileSize: 10 });
      const { status, text } = await announce(site.url, "PUT", "/a.txt", { "content-length": "11" });
      expect({ status, code: JSON.parse(text).code }).toEqual({ status: 413, code: "FILE_TOO_LARGE" });
      expect(await site.textAt("/a.txt")).toBe("old");
    });

    it("refuses more as soon as it has arrived, and leaves nothing: 413", async () => {
      const site = await testSite(await make({ "/a.txt": "old" }), { maxFileSize: 10 });
      for (const path of ["/a.txt", "/new/b.txt"]) {
        const { status, text } = await site.send("PUT", path, { body: endlessBody("01234") });
        expect({ status, code: JSON.parse(text).code }).toEqual({ status: 413, code: "FILE_TOO_LARGE" });
      }
      expect([await site.everything(), await site.textAt("/a.txt"), site.changes]).toEqual([["/a.txt"], "old", []]);
    });

    it("takes just as much", async () => {
      const site = await testSite(await make(), { maxFileSize: 10 });
      expect((await site.send("PUT", "/a.txt", { body: "0123456789" })).status).toBe(201);
      expect((await site.send("PUT", "/b.txt", { body: pieces("01234", "56789") })).status).toBe(201);
    });
  });
});
