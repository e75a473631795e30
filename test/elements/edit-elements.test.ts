import { describe, expect, it, onTestFinished, vi } from "vitest";
import { DocumentCache } from "../../src/elements/document-cache.ts";
import { createFileServer } from "../../src/file-server.ts";
import type { ChangedElements } from "../../src/server/access.ts";
import type { ChangeOrigin } from "../../src/server/change-feed.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { accessOf } from "../helpers/file-request.ts";
import { edit, send, serveOne, wholePage } from "./editing.ts";

/** Status and code of a reply. */
async function outcome(reply: Response): Promise<[number, string]> {
  return [reply.status, ((await reply.json()) as { code: string }).code];
}

describe("editElements", () => {
  it.each([
    ["one that is too large", "bcd", 10],
    ["one that 2,000 matches would make too large", "x".repeat(100_000), 1_000_000],
  ])("refuses a result, %s, and writes nothing", async (_, content, maxDocumentSize) => {
    const page = maxDocumentSize === 10 ? "<p>a</p>" : "<p>a</p>".repeat(2000);
    const files = serveOne(page, { maxDocumentSize });
    expect(await outcome(await send(files, "POST", "p", content))).toEqual([413, "RESULT_TOO_LARGE"]);
    expect((await wholePage(files)).toString()).toBe(page);
    await files.close();
  });

  it("does not read a large content for each of thousands of elements before it refuses the result", async () => {
    const storage = memoryStorage({ "/a.svg": `<svg>${"<g/>".repeat(9000)}</svg>` });
    const files = createFileServer({ storage, maxDocumentSize: 800_000 });
    const init = { method: "POST", headers: { range: "selector=g" }, body: "<a/>".repeat(100_000) };
    expect(await outcome(await files.fetch(new Request("http://localhost/a.svg", init)))).toEqual([
      413,
      "RESULT_TOO_LARGE",
    ]);
    await files.close();
  });

  it("refuses a reply that would be gigabytes before it writes anything", async () => {
    const files = serveOne(`${"<div>".repeat(400)}${"x".repeat(5000)}`, { maxFileSize: 1_000_000 });
    const before = await wholePage(files);
    expect(await outcome(await send(files, "POST", "div", "y"))).toEqual([413, "RESULT_TOO_LARGE"]);
    expect(await wholePage(files)).toEqual(before);
    await files.close();
  });

  it("announces the new entity tag of the document", async () => {
    const files = serveOne("<p>a</p>");
    const etags: unknown[] = [];
    files.changes.subscribe(({ etag }) => etags.push(etag));
    await send(files, "POST", "p", "b");
    const current = (await files.fetch(new Request("http://localhost/page.html"))).headers.get("etag");
    expect(etags).toEqual([current]);
    await files.close();
  });

  it("edits what the edit before left, without reading it again", async () => {
    const files = serveOne("<p>a</p>");
    await send(files, "PUT", "p", "<i>b</i>");
    await send(files, "POST", "i", "c");
    await send(files, "DELETE", "p");
    expect((await wholePage(files)).toString()).toBe("<i>bc</i>");
    await files.close();
  });

  it("takes the tree over again after an edit that somebody kept from it", async () => {
    const files = serveOne(`<p>a</p>${"<i>x</i>".repeat(1000)}`); // long enough for states of the parser
    const take = vi.spyOn(DocumentCache.prototype, "take").mockReturnValueOnce(false);
    onTestFinished(() => take.mockRestore());
    for (const content of ["b", "c"]) await send(files, "PUT", "p", `<p>${content}</p>`);
    expect(take.mock.results.map(({ value }) => value)).toEqual([false, true]);
    await files.close();
  });

  it("takes the tree over where it is known ahead what rules by elements ask, and answers them", async () => {
    const files = serveOne(`<p class=a>a</p>${"<i>x</i>".repeat(1000)}`);
    const take = vi.spyOn(DocumentCache.prototype, "take");
    onTestFinished(() => take.mockRestore());
    const access = accessOf((_right, _path, asked) => typeof asked === "object" && asked.areAmong(".a"));
    const heard: unknown[] = [];
    const ask = (_change: unknown, { elements }: ChangeOrigin): void => {
      heard.push([elements?.[0]?.before, elements?.[0]?.after].map((each) => each?.areAmong(".a")));
    };
    files.changes.subscribe(ask, undefined, () => [access]);
    for (const name of ["a", "b", "a"]) await send(files, "PUT", "p", `<p class=${name}>c</p>`);
    expect(heard).toEqual([
      [true, true],
      [true, false],
      [false, true],
    ]);
    expect(take.mock.results.map(({ value }) => value)).toEqual([true, true, true]);
    await files.close();
  });

  it("leaves the tree to a listener that may ask anything of the elements", async () => {
    const files = serveOne(`<p class=a>a</p>${"<i>x</i>".repeat(1000)}`);
    const take = vi.spyOn(DocumentCache.prototype, "take");
    onTestFinished(() => take.mockRestore());
    const heard: (ChangedElements | undefined)[] = [];
    files.changes.subscribe((_change, { elements }) => heard.push(elements?.[0]));
    for (const name of ["a", "b"]) await send(files, "PUT", "p", `<p class=${name}>c</p>`);
    expect(heard.map((each) => [each?.before.areAmong(".a"), each?.after.areAmong(".a")])).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(take).not.toHaveBeenCalled();
    await files.close();
  });

  it("lets two people edit different parts of a page, each by the tag of their part", async () => {
    const files = serveOne("<p>a</p><div>b</div>");
    const tagOf = async (selector: string) => (await send(files, "GET", selector)).headers.get("etag") ?? "";
    const [p, div] = [await tagOf("p"), await tagOf("div")];
    expect((await send(files, "PUT", "p", "<p>c</p>", { "if-match": p })).status).toBe(206);
    expect((await send(files, "PUT", "div", "<div>d</div>", { "if-match": div })).status).toBe(206);
    expect((await send(files, "PUT", "p", "<p>e</p>", { "if-match": p })).status).toBe(412);
    expect((await wholePage(files)).toString()).toBe("<p>c</p><div>d</div>");
    await files.close();
  });

  it("tells the tag that the elements have from now on", async () => {
    const files = serveOne("<p>a</p>");
    const posted = await send(files, "POST", "p", "b");
    expect((await send(files, "DELETE", "p", undefined, { "if-match": posted.headers.get("etag") ?? "" })).status).toBe(
      204,
    );
    await files.close();
  });

  it("has no tag for elements that the same selector does not select any more", async () => {
    const { status, headers } = await edit("<p>a</p>", "PUT", "p", "<i>b</i>");
    expect([status, headers.get("etag")]).toEqual([206, null]);
  });

  it("judges the tag before the content is read, and again under the lock", async () => {
    const files = serveOne("<p>a</p>");
    const etag = (await send(files, "GET", "p")).headers.get("etag") ?? "";
    const both = await Promise.all(["b", "c"].map((text) => send(files, "POST", "p", text, { "if-match": etag })));
    expect(both.map(({ status }) => status).sort()).toEqual([206, 412]);
    const invalid = await send(files, "PUT", "p", "<not html", { "if-match": '"old"' });
    expect([invalid.status, invalid.headers.get("etag"), invalid.headers.get("x-selector-matches")]).toEqual([
      412,
      (await send(files, "GET", "p")).headers.get("etag"),
      "1",
    ]);
    await files.close();
  });

  it("takes the tag of elements for nothing where the whole file is written", async () => {
    const files = serveOne("<p>a</p>");
    const etag = (await send(files, "GET", "p")).headers.get("etag") ?? "";
    const whole = { method: "PUT", headers: { "if-match": etag }, body: "<p>b</p>" };
    expect((await files.fetch(new Request("http://localhost/page.html", whole))).status).toBe(412);
    await files.close();
  });

  it("tells the number of matches with errors, too", async () => {
    const { status, headers } = await edit("<p>a</p><p>b</p>", "PUT", "p", "<div>");
    expect([status, headers.get("x-selector-matches")]).toEqual([400, "2"]);
  });

  it("refuses encoded content", async () => {
    const { status, body, page, headers } = await edit("<p>a</p>", "POST", "p", "x", { "content-encoding": "gzip" });
    expect([status, JSON.parse(body).code, page]).toEqual([415, "UNSUPPORTED_ENCODING", "<p>a</p>"]);
    expect([headers.get("accept-encoding"), headers.get("x-selector-matches")]).toEqual(["identity", "1"]);
  });

  it("reads a page as UTF-8 again once its only invalid bytes are gone", async () => {
    const files = serveOne(Buffer.from("<p>\xff</p><i>a</i>", "latin1"));
    expect((await send(files, "POST", "i", "é")).status).toBe(422);
    expect((await send(files, "DELETE", "p")).status).toBe(204);
    expect((await send(files, "POST", "i", "é")).status).toBe(206);
    await files.close();
  });

  it.each(["PUT", "POST", "DELETE"])("keeps all other bytes of a page that is not UTF-8: %s", async (method) => {
    const page = Buffer.from("\xef\xbb\xbf<p a=\xe9>\xff\r\n<i>\xe9</i>\x80<b>x</b>\0\xc3</p>\xa0", "latin1");
    const files = serveOne(page);
    await send(files, method, "b", method === "DELETE" ? undefined : "<u>y</u>");
    const expected = { PUT: "<u>y</u>", POST: "<b>x<u>y</u></b>", DELETE: "" }[method] ?? "?";
    expect((await wholePage(files)).toString("latin1")).toBe(page.toString("latin1").replace("<b>x</b>", expected));
    await files.close();
  });
});
