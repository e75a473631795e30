import { describe, expect, it } from "vitest";
import { endlessBody, pieces } from "../helpers/pieces.ts";
import { announce } from "../helpers/send.ts";
import { storages, testSite } from "../helpers/test-site.ts";

describe.each(storages)("POST to a file $where", ({ make }) => {
  it("adds the content to its end: 200, validators, and what is stored now", async () => {
    const site = await testSite(await make({ "/log.txt": "one\n" }));
    const before = (await site.send("HEAD", "/log.txt")).headers.etag;
    const { status, headers, text } = await site.send("POST", "/log.txt", { body: "two\n" });
    const now = (await site.send("HEAD", "/log.txt")).headers;
    expect({ status, location: headers.location }).toEqual({ status: 200, location: undefined });
    expect(JSON.parse(text)).toEqual({ path: "/log.txt", size: 8, etag: now.etag });
    expect([headers.etag, headers["last-modified"]]).toEqual([now.etag, now["last-modified"]]);
    expect(now.etag).not.toBe(before);
    expect(await site.textAt("/log.txt")).toBe("one\ntwo\n");
  });

  it("adds what comes in chunks, in order", async () => {
    const site = await testSite(await make({ "/log.txt": "" }));
    await site.send("POST", "/log.txt", { body: pieces("a", "b", "c") });
    await site.send("POST", "/log.txt", { body: pieces("d") });
    expect(await site.textAt("/log.txt")).toBe("abcd");
  });

  it("changes nothing, and announces nothing, where nothing is sent", async () => {
    const site = await testSite(await make({ "/log.txt": "one" }));
    const { etag } = (await site.send("HEAD", "/log.txt")).headers;
    const { status, headers } = await site.send("POST", "/log.txt", { body: "" });
    expect({ status, etag: headers.etag, changes: site.changes }).toEqual({ status: 200, etag, changes: [] });
  });

  it.each(["/no.txt", "/no/no.txt", "/no/", "/log.txt/", "/log.txt/x"])("answers 404 at %s", async (path) => {
    const site = await testSite(await make({ "/log.txt": "one" }));
    const { status, text } = await site.send("POST", path, { body: "x", headers: { "x-filename": "a.txt" } });
    expect({ status, code: JSON.parse(text).code }).toEqual({ status: 404, code: "NOT_FOUND" });
    expect(await site.everything()).toEqual(["/log.txt"]);
  });

  describe("of which the size is limited", () => {
    it("refuses what would make the file too large, before it is sent: 413", async () => {
      const site = await testSite(await make({ "/log.txt": "12345678" }), { maxFileSize: 10 });
      const { status, text } = await announce(site.url, "POST", "/log.txt", { "content-length": "3" });
      expect({ status, code: JSON.parse(text).code }).toEqual({ status: 413, code: "FILE_TOO_LARGE" });
      expect(await site.textAt("/log.txt")).toBe("12345678");
    });

    it("refuses it as soon as it has arrived, where no length was announced: 413", async () => {
      const site = await testSite(await make({ "/log.txt": "12345678" }), { maxFileSize: 10 });
      const { status, text } = await site.send("POST", "/log.txt", { body: endlessBody("x") });
      expect({ status, code: JSON.parse(text).code }).toEqual({ status: 413, code: "FILE_TOO_LARGE" });
      expect([await site.everything(), await site.textAt("/log.txt")]).toEqual([["/log.txt"], "12345678"]);
      expect(site.changes).toEqual([]);
    });

    it("takes just as much", async () => {
      const site = await testSite(await make({ "/log.txt": "12345678" }), { maxFileSize: 10 });
      expect((await site.send("POST", "/log.txt", { body: "90" })).status).toBe(200);
    });

    it("counts what others have appended in the meantime", async () => {
      const site = await testSite(await make({ "/log.txt": "" }), { maxFileSize: 10 });
      const bodies = Array.from({ length: 5 }, () => "xxxx");
      const answers = await Promise.all(bodies.map((body) => site.send("POST", "/log.txt", { body })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 413, 413, 413]);
      expect(await site.textAt("/log.txt")).toBe("xxxxxxxx");
    });
  });
});
