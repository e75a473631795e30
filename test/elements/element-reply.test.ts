import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { dialects, elementBytes, elementTag, judgePreconditions } from "../../src/elements/element-reply.ts";
import { parseFragment } from "../../src/html/edit/well-formed.ts";
import { entityTag } from "../../src/http/entity-tag.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { done } from "../helpers/done.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { openSocket, serve } from "../helpers/serve.ts";
import { type Edit, send, serveOne, wholePage } from "./editing.ts";
import { elementsOf } from "./pages.ts";

const limits = { maxFileSize: 1000, maxDocumentSize: 1000 };

describe("elementBytes", () => {
  it("are those of the file, one element behind the other", async () => {
    const document = await parseHtml("<p title='x'>é</P ><p>\r\n");
    const elements = elementsOf(document).filter(({ name }) => name === "p");
    expect(Buffer.from(await elementBytes(document, elements, limits)).toString()).toBe("<p title='x'>é</P ><p>\r\n");
  });

  it("are refused while half of what all clients may be sent goes to the same one", async () => {
    const { port } = await serve({ storage: memoryStorage({ "/a.html": `<p>${"x".repeat(15 * 1024 ** 2)}` }) });
    const ask = async (): Promise<string> => {
      const socket = await openSocket(port);
      socket.write("GET /a.html HTTP/1.1\r\nHost: localhost\r\nRange: selector=p\r\n\r\n");
      await once(socket, "readable"); // and no more is read
      return String(socket.read(12)).slice(9);
    };
    expect((await Promise.all(Array.from({ length: 9 }, ask))).sort()).toEqual([...Array(8).fill("206"), "503"]);
  });

  it("write what no byte of the document can say as a reference", async () => {
    const document = await parseHtml(Buffer.from("<table><td>\xe9&hearts;", "latin1"));
    const elements = elementsOf(document).filter(({ name }) => name === "tbody");
    const bytes = await elementBytes(document, elements, limits);
    expect(Buffer.from(bytes).toString("latin1")).toBe("<tbody><tr><td>\xe9&#9829;</td></tr></tbody>");
  });

  it("are not made where they would be too many", async () => {
    const document = await parseHtml("<b>1</b>");
    const four = elementsOf(document);
    for (const less of [{ maxFileSize: 20 }, { maxDocumentSize: 8 }])
      await expect(elementBytes(document, four, { ...limits, ...less })).rejects.toMatchObject({ status: 413 });
  });
});

describe("elementTag", () => {
  it("is strong, and the same for the same bytes only", () => {
    expect(elementTag(Buffer.from("<p>a"))).toBe(elementTag(new Uint8Array([60, 112, 62, 97])));
    expect(elementTag(Buffer.from("<p>a"))).not.toBe(elementTag(Buffer.from("<p>b")));
    expect(elementTag(Buffer.from(""))).toMatch(/^"elements:[\w-]{22}"$/);
  });

  it("has a character in it that no version of a file has", async () => {
    const stat = await memoryStorage({ "/a": "" }).stat("/a");
    expect(entityTag(stat?.version ?? ":")).not.toContain(":");
  });
});

const tag = elementTag(Buffer.from("<p>a"));

async function judge(method: string, headers: Record<string, string>, isReadable = true) {
  const stat = await memoryStorage({ "/a.html": "<p>a<p>b" }).stat("/a.html");
  if (!stat) throw new Error("the page is gone");
  return judgePreconditions({ method, headers }, stat, isReadable ? async () => tag : undefined);
}

describe("judgePreconditions", () => {
  it("goes by the tag of the elements", async () => {
    expect(await judge("PUT", { "if-match": tag })).toBe("proceed");
    expect(await judge("GET", { "if-none-match": tag })).toBe("not-modified");
    const failed = { status: 412, code: "PRECONDITION_FAILED", headers: { etag: tag } };
    for (const each of [tag, "*"]) await expect(judge("PUT", { "if-none-match": each })).rejects.toMatchObject(failed);
  });

  it("takes the document's tag for If-Match", async () => {
    const version = (await memoryStorage({ "/a.html": "<p>a<p>b" }).stat("/a.html"))?.version;
    expect(await judge("PUT", { "if-match": `"x", ${tag}` })).toBe("proceed");
    await expect(judge("PUT", { "if-match": `"not-${version}"` })).rejects.toMatchObject({ status: 412 });
  });

  it("tells a user who may not read the elements neither their tag, nor whether a guessed one is right", async () => {
    const failed = { status: 412, code: "PRECONDITION_FAILED", headers: {} };
    await expect(judge("PUT", { "if-match": tag }, false)).rejects.toMatchObject(failed);
    await expect(judge("PUT", { "if-match": '"guess"' }, false)).rejects.toMatchObject(failed);
    expect(await judge("PUT", { "if-none-match": tag }, false)).toBe("proceed");
    expect(await judge("PUT", { "if-match": "*" }, false)).toBe("proceed");
  });

  it("makes no tag where there are no conditions", async () => {
    const stat = await memoryStorage({ "/a.html": "" }).stat("/a.html");
    if (!stat) throw new Error("the page is gone");
    const fail = (): Promise<never> => Promise.reject(new Error("made a tag"));
    expect(await judgePreconditions({ method: "PUT", headers: {} }, stat, fail)).toBe("proceed");
  });
});

const page = "<ul id=l>\n<li id=a>1</li>\n<li>2</li>\n</ul>\n";

async function draft(...request: Edit) {
  const files = serveOne(page, { dialect: "draft-00" });
  const { status, headers, ...reply } = await send(files, ...request).then(async (response) => ({
    status: response.status,
    headers: response.headers,
    body: await response.text(),
  }));
  const after = (await wholePage(files)).toString();
  await files.close();
  return { status, range: headers.get("content-range"), matches: headers.get("x-selector-matches"), ...reply, after };
}

describe('the dialect "draft-00"', () => {
  it("reads the first match only", async () => {
    expect(await draft("GET", "li")).toMatchObject({
      status: 206,
      range: "selector=li",
      matches: "1",
      body: "<li id=a>1</li>",
    });
  });

  it.each(["GET", "HEAD", "PUT", "POST", "DELETE"])("answers 416 where nothing matches: %s", async (method) => {
    const body = method === "PUT" || method === "POST" ? "x" : undefined;
    expect(await draft(method, "h1", body)).toMatchObject({
      status: 416,
      range: "selector */",
      matches: "0",
      after: page,
    });
  });

  it("answers POST with what was appended, byte for byte", async () => {
    expect(await draft("POST", "ul", " <li>3")).toMatchObject({
      status: 206,
      body: " <li>3",
      after: page.replace("</ul>", " <li>3</li></ul>"),
    });
  });

  it("changes the first match only", async () => {
    expect((await draft("DELETE", "li")).after).toBe(page.replace("<li id=a>1</li>", ""));
    expect((await draft("PUT", "li", "<li id=a>x</li>")).after).toBe(page.replace(">1<", ">x<"));
  });

  it.each(["<li id=b>x</li>", "<li>x</li>", "x"])("does not let %s replace what has an id", async (html) => {
    const { status, body, after } = await draft("PUT", "#a", html);
    expect([status, JSON.parse(body).code, after]).toEqual([409, "ID_CHANGED", page]);
  });

  it("lets an element without an id get one", async () => {
    expect((await draft("PUT", "li:last-child", "<li id=b>x</li>")).status).toBe(206);
  });
});

describe('the dialect "spec"', () => {
  it("lets an id change", async () => {
    const fragment = await done(parseFragment("<p id=b>"));
    expect(() => dialects.spec.checkReplacement({ attribs: { id: "a" } } as never, fragment)).not.toThrow();
  });
});
