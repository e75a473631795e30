import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFileServer } from "../../../src/file-server.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { checks } from "../../helpers/effort.ts";

const svg = `<?xml version="1.0"?>\r\n<!DOCTYPE svg [<!ENTITY who "you">]>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="u"><!-- a --><g id='a'><circle r="1"/></g>\r\n<x:note>&who;</x:note></svg>
`;
const xhtml = `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body><p>a<br/></p><p/></body></html>`;

/** What a request to a document is answered, and what the document is afterwards. */
async function send(path: string, content: string | Uint8Array, method: string, selector: string, body?: string) {
  const files = createFileServer({ storage: memoryStorage({ [path]: content }) });
  const url = `http://localhost${path}`;
  const init = { method, headers: { range: `selector=${selector}` }, ...(body !== undefined && { body }) };
  const response = await files.fetch(new Request(url, init));
  const reply = { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
  const after = await (await files.fetch(new Request(url))).text();
  await files.close();
  return { ...reply, after };
}

describe("elements of XML documents", () => {
  it.each([
    ["/a.svg", "image/svg+xml"],
    ["/a.xml", "application/xml"],
    ["/a.xhtml", "application/xhtml+xml"],
  ])("are read, with the content type of the file: %s", async (path, type) => {
    expect(await send(path, svg, "GET", "note, circle")).toMatchObject({
      status: 206,
      type,
      body: '<circle r="1"/><x:note>&who;</x:note>',
    });
  });

  it.each([
    ["PUT", "circle", "<rect x='&who;'/>t", '<circle r="1"/>', "<rect x='&who;'/>t"],
    ["PUT", "g", "<x:g/>", `<g id='a'><circle r="1"/></g>`, "<x:g/>"],
    ["POST", "g", "<path/>", "</g>", "<path/></g>"],
    ["POST", "note", "<![CDATA[<]]>", "</x:note>", "<![CDATA[<]]></x:note>"],
    ["POST", "circle", "<title>t</title>", '<circle r="1"/>', '<circle r="1"><title>t</title></circle>'],
    ["DELETE", "note", undefined, "<x:note>&who;</x:note>", ""],
    ["DELETE", "#a, circle", undefined, `<g id='a'><circle r="1"/></g>`, ""],
  ])("are changed, and nothing else: %s %s", async (method, selector, body, old, now) => {
    const { status, after } = await send("/a.svg", svg, method, selector, body);
    expect([status, after]).toEqual([method === "DELETE" ? 204 : 206, svg.replace(old, now)]);
  });

  it("opens an element with a prefix under its whole name", async () => {
    const { after } = await send("/a.xml", '<r xmlns:p="u"><p:e a="/" /></r>', "POST", "e", "t");
    expect(after).toBe('<r xmlns:p="u"><p:e a="/" >t</p:e></r>');
  });

  it("gives the root element way to one element only", async () => {
    const xml = "<!-- c -->\n<r/>\n";
    expect((await send("/a.xml", xml, "PUT", ":root", "<!--d--><s>t</s> ")).after).toBe(
      "<!-- c -->\n<!--d--><s>t</s> \n",
    );
    for (const body of ["t", "<a/><b/>", "<a/>t", "<!-- -->"]) {
      const { status, after, body: answer } = await send("/a.xml", xml, "PUT", ":root", body);
      expect([status, JSON.parse(answer).code, after]).toEqual([400, "INVALID_TARGET", xml]);
    }
    const { status, body } = await send("/a.xml", xml, "DELETE", ":root");
    expect([status, JSON.parse(body).code]).toEqual([400, "INVALID_TARGET"]);
  });

  it("knows void elements of XHTML, whose other elements may be empty tags", async () => {
    expect((await send("/a.xhtml", xhtml, "POST", "p", "x")).after).toBe(
      xhtml.replace("<br/></p><p/>", "<br/>x</p><p>x</p>"),
    );
    expect((await send("/a.xhtml", xhtml, "POST", "br", "x")).status).toBe(400);
    expect((await send("/a.xhtml", xhtml, "DELETE", "head")).status).toBe(204); // as in any XML
  });

  it("does not make a document ill-formed of two well-formed pieces", async () => {
    const put = await send("/a.xml", "<r>]]<a/></r>", "PUT", "a", ">");
    expect([put.status, JSON.parse(put.body).code, put.after]).toEqual([400, "INVALID_HTML", "<r>]]<a/></r>"]);
    const removed = await send("/a.xml", "<r>]]<a/>></r>", "DELETE", "a");
    expect([removed.status, removed.after]).toEqual([400, "<r>]]<a/>></r>"]);
  });

  it("keeps the bytes of a document in another encoding", async () => {
    const bytes = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><r é="1"><a/>é</r>', "latin1");
    const { status, body } = await send("/a.xml", bytes, "PUT", "a", "<b/>");
    expect([status, body]).toEqual([206, "<b/>"]);
    expect((await send("/a.xml", bytes, "PUT", "a", "<b>é</b>")).status).toBe(422);
  });

  it("tells that a document is not well-formed, for every method", async () => {
    for (const method of ["GET", "PUT", "POST", "DELETE"]) {
      const { status, body } = await send("/a.xml", "<a><b></a>", method, "a", method === "PUT" ? "<a/>" : undefined);
      expect([status, JSON.parse(body).code]).toEqual([422, "NOT_WELL_FORMED"]);
    }
  });

  it("changes just what it should in random documents", async () => {
    const node = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom("t", "&amp;", "<!--c-->", "<?p q?>", "<![CDATA[<]]>", "\r\n", "é\u{1f600}"),
        fc
          .tuple(fc.constantFrom("a", "b", "p:c"), fc.array(tie("node"), { maxLength: 4 }))
          .map(([name, content]) =>
            content.length === 0 ? `<${name} d='1'/>` : `<${name}>${content.join("")}</${name}>`,
          ),
      ),
    })).node;
    const documents = fc.array(node, { maxLength: 6 }).map((nodes) => `<r xmlns:p="u">${nodes.join("")}</r>`);
    const fragments = fc.oneof(node, fc.constantFrom("<a>", "</a>", "&", "<q:a/>", "]]>", "<a b=1/>"));
    await fc.assert(
      fc.asyncProperty(
        documents,
        fragments,
        fc.constantFrom("a", "b", "c", "r > *"),
        async (xml, fragment, selector) => {
          const found = await send("/a.xml", xml, "GET", selector);
          const { status, after } = await send("/a.xml", xml, "PUT", selector, fragment);
          if (found.status === 204 || fragment.trim() === "") expect(after).toBe(xml);
          else if (status === 206) expect((await send("/a.xml", after, "GET", "*")).status).toBe(206);
          else expect([status, after]).toEqual([400, xml]);
        },
      ),
      checks({ seed: 3, numRuns: 100, inCampaign: 1_200 }),
    );
  });
});
