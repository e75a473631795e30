import { describe, expect, it } from "vitest";
import type { Answer } from "../helpers/send.ts";
import { rawRequest } from "../helpers/serve.ts";
import { type Files, storages, type TestSite, testSite } from "../helpers/test-site.ts";

const digits = "0123456789";

interface Part {
  readonly type: string;
  readonly range: string;
  readonly content: string;
}

/** Takes a `multipart/byteranges` reply apart by RFC 2046 §5.1.1, on its own authority. */
function partsOf({ headers, bytes }: Answer): Part[] {
  const [, boundary] =
    /^multipart\/byteranges; boundary=([\w'()+,./:=?-]{1,70})$/.exec(headers["content-type"] ?? "") ?? [];
  const [preamble = "", ...sections] = `\r\n${bytes.toString("latin1")}`.split(`\r\n--${boundary}`);
  const epilogue = sections.pop() ?? "";
  expect({ preamble: preamble.trim(), epilogue: epilogue.trim() }).toEqual({ preamble: "", epilogue: "--" });
  return sections.map((section) => {
    const [, head = "", content = ""] = /^\r\n(.*?)\r\n\r\n(.*)$/s.exec(section) ?? [];
    const fields = new Map(head.split("\r\n").map((line) => [line.split(": ")[0]?.toLowerCase(), line.split(": ")[1]]));
    return { type: fields.get("content-type") ?? "", range: fields.get("content-range") ?? "", content };
  });
}

describe.each(storages)("byte ranges of a file $where", ({ make }) => {
  const siteWith = async (files: Files = { "/a.txt": digits }): Promise<TestSite> => testSite(await make(files));
  const ranged = (site: TestSite, range: string, more: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
    site.send(method, "/a.txt", { headers: { range, ...more } });

  it.each([
    ["bytes=0-3", "0123", "bytes 0-3/10"],
    ["bytes=4-", "456789", "bytes 4-9/10"],
    ["bytes=-3", "789", "bytes 7-9/10"],
    ["bytes=0-3, 2-5", "012345", "bytes 0-5/10"],
    ["bytes=0-3,4-5", "012345", "bytes 0-5/10"],
  ])("answers %s with 206 and just %s", async (range, text, contentRange) => {
    const answer = await ranged(await siteWith(), range);
    expect(answer).toMatchObject({ status: 206, text });
    expect(answer.headers).toMatchObject({
      "content-range": contentRange,
      "content-length": String(text.length),
      "content-type": "text/plain; charset=utf-8",
      etag: expect.any(String),
      "last-modified": expect.any(String),
    });
  });

  it("answers several ranges as multipart/byteranges, in the order asked for", async () => {
    const answer = await ranged(await siteWith(), "bytes=8-9, 0-1, 4-4");
    expect(answer.status).toBe(206);
    expect(answer.headers["content-range"]).toBeUndefined();
    expect(answer.headers["content-length"]).toBe(String(answer.bytes.length));
    const type = "text/plain; charset=utf-8";
    expect(partsOf(answer)).toEqual([
      { type, range: "bytes 8-9/10", content: "89" },
      { type, range: "bytes 0-1/10", content: "01" },
      { type, range: "bytes 4-4/10", content: "4" },
    ]);
  });

  it("keeps bytes that look like a boundary, and long parts, as they are", async () => {
    const content = Buffer.alloc(400_000, "\r\n--boundary--\r\n\r\n");
    const site = await siteWith({ "/a.txt": content });
    const parts = partsOf(await ranged(site, "bytes=0-149999, 200000-399998"));
    expect(parts.map((part) => part.range)).toEqual(["bytes 0-149999/400000", "bytes 200000-399998/400000"]);
    expect(parts[0]?.content).toBe(content.toString("latin1", 0, 150_000));
    expect(parts[1]?.content).toBe(content.toString("latin1", 200_000, 399_999));
  });

  it("answers what lies beyond the end with 416 and the length", async () => {
    const answer = await ranged(await siteWith(), "bytes=10-20, 30-40");
    expect(answer.status).toBe(416);
    expect(answer.headers["content-range"]).toBe("bytes */10");
    expect(JSON.parse(answer.text).code).toBe("RANGE_NOT_SATISFIABLE");
  });

  it.each(["bytes=5-2", "bytes 0-1", "lines=1-2"])("ignores %s, which it cannot read", async (range) => {
    const answer = await ranged(await siteWith(), range);
    expect(answer).toMatchObject({ status: 200, text: digits });
    expect(answer.headers["content-range"]).toBeUndefined();
  });

  it("ignores ranges sent in two fields", async () => {
    const { port } = await siteWith();
    const { status, body } = await rawRequest(port, "GET", "/a.txt", ["Range: bytes=0-1", "Range: bytes=4-5"]);
    expect({ status, body }).toEqual({ status: 200, body: digits });
  });

  it("knows no ranges of an empty file but its last bytes, which are all of it", async () => {
    const site = await siteWith({ "/a.txt": "" });
    const [first, last] = [await ranged(site, "bytes=0-"), await ranged(site, "bytes=-5")];
    expect(first).toMatchObject({ status: 416, headers: { "content-range": "bytes */0" } });
    expect(last).toMatchObject({ status: 200, text: "", headers: { "content-length": "0" } });
  });

  it.each<[string, number, (tag: string, date: string) => string]>([
    ["the tag", 206, (tag) => tag],
    ["the date of the file", 206, (_tag, date) => date],
    ["a later date", 200, () => "Fri, 01 Jan 2100 00:00:00 GMT"],
  ])("takes If-Range with %s: %i", async (_what, status, ifRange) => {
    const site = await siteWith();
    const { etag = "", "last-modified": date = "" } = (await site.send("HEAD", "/a.txt")).headers;
    expect((await ranged(site, "bytes=0-1", { "if-range": ifRange(etag, date) })).status).toBe(status);
  });

  it("sends the whole file for a part that does not exist, where If-Range says that it changed", async () => {
    expect((await ranged(await siteWith(), "bytes=50-", { "if-range": '"other"' })).status).toBe(200);
  });

  it("looks at the conditions before the range", async () => {
    const site = await siteWith();
    const { etag = "" } = (await site.send("HEAD", "/a.txt")).headers;
    expect((await ranged(site, "bytes=50-", { "if-none-match": etag })).status).toBe(304);
    expect((await ranged(site, "bytes=0-1", { "if-match": '"other"' })).status).toBe(412);
  });

  it("ignores ranges of what is not a file", async () => {
    const site = await siteWith({ "/dir/a.txt": digits });
    const answer = await site.send("GET", "/dir/", { headers: { range: "bytes=0-3" } });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("a.txt");
  });

  it("sends ranges of the index file of a directory", async () => {
    const site = await siteWith({ "/index.html": digits });
    expect(await site.send("GET", "/", { headers: { range: "bytes=3-4" } })).toMatchObject({ status: 206, text: "34" });
  });

  describe("in a request that changes something", () => {
    it.each(["PUT", "POST", "DELETE"])("refuses %s with a range that would change the whole", async (method) => {
      const site = await siteWith();
      for (const range of ["bytes=0-3", "bytes=0-", "lines=1-2", "nonsense", "selector p"]) {
        const answer = await site.send(method, "/a.txt", { headers: { range }, body: "new" });
        expect([range, answer.status, JSON.parse(answer.text).code]).toEqual([range, 400, "INVALID_RANGE"]);
      }
      expect([await site.textAt("/a.txt"), site.changes]).toEqual([digits, []]);
    });

    it("refuses PUT with Content-Range", async () => {
      const site = await siteWith();
      const headers = { "content-range": "bytes 0-2/10" };
      for (const path of ["/a.txt", "/new.txt"]) {
        const answer = await site.send("PUT", path, { headers, body: "new" });
        expect(answer.status).toBe(400);
        expect(JSON.parse(answer.text).code).toBe("INVALID_RANGE");
      }
      expect(await site.everything()).toEqual(["/a.txt"]);
      expect(await site.textAt("/a.txt")).toBe(digits);
    });
  });
});
