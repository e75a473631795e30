import { describe, expect, it } from "vitest";
import type { Plugin } from "../../src/server/plugin.ts";
import { guardBy } from "../helpers/file-request.ts";
import { edit, send, serveOne } from "./editing.ts";

const page = "\ufeff<!doctype html>\r\n<ul id=l>\r\n<li class='a>b'>1 &amp; \u{1f600}<li>2\r\n</ul><!-- <li> --><p>x";

describe("readElements", () => {
  it("answers the exact source of every match, in document order, with nothing between", async () => {
    const { status, body, headers } = await edit(page, "GET", "li");
    expect(status).toBe(206);
    expect(body).toBe("<li class='a>b'>1 &amp; \u{1f600}<li>2\r\n");
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-range": "selector li",
      "x-selector-matches": "2",
      "cache-control": "no-cache",
      vary: "Range, Authorization",
      "last-modified": expect.stringMatching(/GMT$/),
      "content-length": String(Buffer.byteLength(body)),
    });
  });

  it("repeats nested matches, each as it stands", async () => {
    const { body } = await edit("<div>a<div>b</div></div>", "GET", "div");
    expect(body).toBe("<div>a<div>b</div></div><div>b</div>");
  });

  it("serialises an element that the file only implies", async () => {
    const { body } = await edit("<table><tr><td>1</table>", "GET", "tbody");
    expect(body).toBe("<tbody><tr><td>1</td></tr></tbody>");
  });

  it.each(["textarea", "title", "script", "style", "xmp", "iframe", "noscript"])(
    "gives all of a <%s> that the file ends in, so that a client changes it without losing any",
    async (name) => {
      const files = serveOne(`<p>a<${name} id=q>draft text`);
      const body = await (await send(files, "GET", "#q")).text();
      expect(body).toBe(`<${name} id=q>draft text`);
      const reply = await send(files, "PUT", "#q", `${body}, and more</${name}>`);
      expect(await reply.text()).toBe(`<${name} id=q>draft text, and more</${name}>`);
      await files.close();
    },
  );

  it.each([
    ["<b>1<i>2<p>3</b>4", "body > b > i", "<i>2</i>"],
    ["<b>1<i>2<p>3</b>4", "p", "<p><b>3</b>4</p>"],
    ["<a><p></a></p>", "p", "<p><a></a></p>"],
    ["<a><p></a></p>", "body > a", "<a></a>"],
    ["<p><b id=x>1<p>2<i>3</i>", "p:last-child", '<p><b id="x">2<i>3</i></b></p>'],
    ["<p><b id=x>1<p>2<i>3</i>", "p:first-child", "<p><b id=x>1"],
    ["<p><b id=x>1<p>2<i>3</i>", "i", "<i>3</i>"],
    ["<table id=t><tr><td>1</p></table>", "td", "<td>1</p>"],
    ["<table id=t></br><tr><td>1</table>", "table", '<table id="t"><tbody><tr><td>1</td></tr></tbody></table>'],
    ["<div id=a><body class=c>1</div>", "#a", '<div id="a">1</div>'],
    ["<div id=a>1</body><!--c--></div>2", "#a", '<div id="a">1</div>'],
    ["<nobr>1<div id=a>2<nobr>3</div>", "#a", '<div id="a"><nobr>2</nobr><nobr>3</nobr></div>'],
    ["<nobr id=a><p><b></p><nobr>1", "#a", '<nobr id="a"><p><b></b></p><b></b></nobr>'],
    ["<div><math></body><!--c-->", "math", "<math><!--c--></math>"],
  ])("of %s gives for %s what browsers have there: %s", async (source, selector, expected) => {
    expect((await edit(source, "GET", selector)).body).toBe(expected);
  });

  it("answers 204 without a range where nothing matches", async () => {
    const { status, body, headers } = await edit(page, "GET", "table");
    expect([status, body, headers.get("x-selector-matches"), headers.get("content-range")]).toEqual([
      204,
      "",
      "0",
      null,
    ]);
    expect([headers.get("vary"), headers.get("cache-control")]).toEqual(["Range, Authorization", "no-cache"]);
  });

  it("answers HEAD as GET, without the content", async () => {
    const { status, body, headers } = await edit(page, "HEAD", "p");
    expect([status, body, headers.get("content-length"), headers.get("x-selector-matches")]).toEqual([
      206,
      "",
      "4",
      "1",
    ]);
  });

  it("answers 304 and 412 by the tag of the elements, and takes the document's for If-Match", async () => {
    const files = serveOne(page);
    const documentTag = (await files.fetch(new Request("http://localhost/page.html"))).headers.get("etag") ?? "";
    const elementTag = (await send(files, "GET", "p")).headers.get("etag") ?? "";
    const status = async (headers: Record<string, string>) =>
      (await send(files, "GET", "p", undefined, headers)).status;
    expect(elementTag).not.toBe(documentTag);
    expect(await status({ "if-none-match": elementTag })).toBe(304);
    expect(await status({ "if-none-match": documentTag })).toBe(206);
    expect(await status({ "if-match": elementTag })).toBe(206);
    expect(await status({ "if-match": documentTag })).toBe(206);
    expect(await status({ "if-match": '"other"' })).toBe(412);
    const modified = (await send(files, "GET", "p")).headers.get("last-modified") ?? "";
    expect(await status({ "if-modified-since": modified })).toBe(304);
    await files.close();
  });

  it("tells the number of matches and the tag on 304, 412 and HEAD as well", async () => {
    const files = serveOne(page);
    const etag = (await send(files, "GET", "li")).headers.get("etag") ?? "";
    const replies = [
      await send(files, "GET", "li", undefined, { "if-none-match": etag }),
      await send(files, "GET", "li", undefined, { "if-match": '"other"' }),
      await send(files, "HEAD", "li"),
    ];
    expect(
      replies.map(({ status, headers }) => [status, headers.get("x-selector-matches"), headers.get("etag")]),
    ).toEqual([
      [304, "2", etag],
      [412, "2", etag],
      [206, "2", etag],
    ]);
    await files.close();
  });

  it("makes the content of a selector once for each version of a page", async () => {
    const bodies: unknown[] = [];
    const witness: Plugin = {
      name: "witness",
      async handle({ method }, next) {
        const reply = await next();
        if (method === "GET") bodies.push(reply.body);
        return reply;
      },
    };
    const files = serveOne(page, { plugins: [witness] });
    const read = async (): Promise<[string, string | null]> => {
      const reply = await send(files, "GET", "li:last-child");
      return [await reply.text(), reply.headers.get("etag")];
    };
    const [text, tag] = await read();
    expect(await read()).toEqual([text, tag]);
    await send(files, "PUT", "p", "<p>another element</p>");
    expect(await read()).toEqual([text, tag]);
    await send(files, "PUT", "li:last-child", "<li>3</li>");
    const [changed, newTag] = await read();
    expect([changed, newTag === tag, await read()]).toEqual(["<li>3</li>", false, [changed, newTag]]);
    expect([bodies[1] === bodies[0], bodies[3] === bodies[2], bodies[4] === bodies[3]]).toEqual([true, false, true]);
    await files.close();
  });

  it("refuses elements that nest so that they would be gigabytes together", async () => {
    const deep = `${"<div>".repeat(400)}${"x".repeat(5000)}`;
    const files = serveOne(deep, { maxFileSize: 1_000_000 });
    const reply = await send(files, "GET", "div");
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([413, "RESULT_TOO_LARGE"]);
    await files.close();
  });

  it("reads a selector in UTF-8, and repeats it as received", async () => {
    const { body, headers } = await edit("<p id=ä>x</p>", "GET", "#ä");
    expect(body).toBe("<p id=ä>x</p>");
    expect(Buffer.from(headers.get("content-range") ?? "", "latin1").toString()).toBe("selector #ä");
  });

  it("refuses a selector that no browser takes", async () => {
    const { status, body } = await edit(page, "GET", "p:contains(x)");
    expect([status, JSON.parse(body)]).toEqual([400, expect.objectContaining({ code: "INVALID_SELECTOR" })]);
  });

  it("leaves bytes that are not UTF-8 as they are", async () => {
    const files = serveOne(Buffer.concat([Buffer.from("<p>"), Buffer.from([0xe9, 0xff]), Buffer.from("</p>")]));
    const body = Buffer.from(await (await send(files, "GET", "p")).arrayBuffer());
    expect(body.toString("latin1")).toBe("<p>\xe9\xff</p>");
    await files.close();
  });
});

const small = "<p>a</p><p>b<br></p>";

describe("OPTIONS with a selector", () => {
  it.each([
    ["p", "2", "GET, HEAD, PUT, POST, DELETE, OPTIONS"],
    ["br", "1", "GET, HEAD, PUT, DELETE, OPTIONS"],
    ["body", "1", "GET, HEAD, PUT, POST, OPTIONS"],
    ["*", "6", "GET, HEAD, PUT, OPTIONS"],
    ["table", "0", "GET, HEAD, PUT, POST, DELETE, OPTIONS"],
  ])("tells what can be done to %s", async (selector, matches, allow) => {
    const { status, headers, body } = await edit(small, "OPTIONS", selector);
    expect([status, headers.get("x-selector-matches"), headers.get("allow"), body]).toEqual([200, matches, allow, ""]);
    expect([headers.get("vary"), headers.get("content-length")]).toEqual(["Range, Authorization", "0"]);
  });

  it.each([
    ["read", 200, "GET, HEAD, POST, OPTIONS"],
    ["list", 401, false],
  ] as const)("tells what a user may do who may %s and append", async (right, status, allow) => {
    const guard = guardBy((asked) => asked === right || asked === "append");
    const files = serveOne(small, { plugins: [guard] });
    const reply = await send(files, "OPTIONS", "p");
    expect([reply.status, status === 200 && reply.headers.get("allow")]).toEqual([status, allow]);
    await files.close();
  });

  it("refuses a selector that no browser takes", async () => {
    expect((await edit(small, "OPTIONS", "p >")).status).toBe(400);
  });
});
