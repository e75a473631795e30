import { describe, expect, it } from "vitest";
import { elementSpan, isTagOnly } from "../../../src/html/document/element-span.ts";
import { TemplateElement } from "../../../src/html/document/html-nodes.ts";
import { parseXmlPart, parseXmlTree } from "../../../src/html/document/xml-document.ts";
import { elementsIn } from "../../elements/pages.ts";
import { illFormed, wellFormed } from "../../elements/xml-samples.ts";
import { done } from "../../helpers/done.ts";

describe("parseXmlTree", () => {
  it.each(wellFormed)("takes what a browser takes: %s", async (source) => {
    await expect(done(parseXmlTree(source))).resolves.toBeDefined();
  });

  it.each(illFormed)("refuses what a browser shows an error for: %s", async (source) => {
    await expect(done(parseXmlTree(source))).rejects.toMatchObject({ code: "NOT_WELL_FORMED" });
  });

  it("says what is wrong, and where", async () => {
    await expect(done(parseXmlTree("<a>\r\n  <b>\n</a>"))).rejects.toThrow(
      "The document is not well-formed XML: unexpected close tag (line 3, column 4).",
    );
  });

  it("makes the same tree whatever the length of the pieces", async () => {
    const source = `<?xml version="1.0"?>\r\n<!-- c --><!DOCTYPE a [<!ENTITY e "f">]><a x:b="1 &e;\r\n" xmlns:x="u">
      t &amp; &#x1f600;\r\n]] <![CDATA[<&]]><x:b c='2'/><!-- - --><?p q?></a>\n`;
    const shape = async (filling: string) => {
      const padded = source.replace("<!-- c -->", `<!--${filling}-->`);
      const { root } = await done(parseXmlTree(padded));
      const [a] = elementsIn(root);
      return a?.children.map((node) => [node.type, "data" in node ? node.data : node.type]);
    };
    const expected = await shape("c");
    // The pieces have 8 Ki characters: their end falls everywhere.
    for (let length = 8192 - source.length; length < 8192; length += 1) {
      expect(await shape("c".repeat(length)), `${length}`).toEqual(expected);
    }
  });

  it("is bounded as HTML is", async () => {
    await expect(done(parseXmlTree("<a>".repeat(200_000)))).rejects.toMatchObject({ code: "DOCUMENT_TOO_DEEP" });
    const many = `<r>${"<a/>".repeat(10_000)}</r>`;
    await expect(done(parseXmlTree(many, { maxTreeBytes: 1_000_000 }))).rejects.toMatchObject({
      code: "DOCUMENT_TOO_COSTLY",
    });
    const attributes = Array.from({ length: 20_000 }, (_, i) => `a${i}=''`).join(" ");
    await expect(done(parseXmlTree(`<a ${attributes}/>`, { maxTreeBytes: 1_000_000 }))).rejects.toMatchObject({
      code: "DOCUMENT_TOO_COSTLY",
    });
  });
});

describe("parseXmlPart", () => {
  it("reads text and several elements, with the namespaces of their place", async () => {
    const root = await done(parseXmlPart("a<b/><x:c/>d", { namespaces: { x: "u" }, entities: undefined }));
    expect(root.children.map(({ type }) => type)).toEqual(["text", "tag", "tag", "text"]);
    expect(elementsIn(root).map(({ name, namespace }) => [name, namespace])).toEqual([
      ["b", ""],
      ["c", "u"],
    ]);
  });
});

async function elements(source: string) {
  const { root } = await done(parseXmlTree(source));
  return elementsIn(root);
}

describe("the tree of an XML document", () => {
  it("knows where each element stands", async () => {
    const source = '<a>\r\n<b c="d>e"/><x:y xmlns:x="u">t</x:y ></a>';
    const spans = (await elements(source)).map((element) => {
      const { start = 0, end = 0, contentStart = 0, contentEnd = 0 } = elementSpan(element) ?? {};
      return [source.slice(start, end), source.slice(contentStart, contentEnd), isTagOnly(element)];
    });
    expect(spans).toEqual([
      [source, source.slice(3, -4), false],
      ['<b c="d>e"/>', "", true],
      ['<x:y xmlns:x="u">t</x:y >', "t", false],
    ]);
  });

  it("has local names and their namespaces, and whole names of attributes", async () => {
    const source = '<r xmlns="d" xmlns:p="u"><p:a p:b="1" b="2"/><c xmlns=""><D/></c><xml/></r>';
    expect((await elements(source)).map(({ name, namespace, attribs }) => [name, namespace, { ...attribs }])).toEqual([
      ["r", "d", { xmlns: "d", "xmlns:p": "u" }],
      ["a", "u", { "p:b": "1", b: "2" }],
      ["c", "", { xmlns: "" }],
      ["D", "", {}],
      ["xml", "d", {}],
    ]);
  });

  it("resolves references and line ends, and keeps CDATA sections and instructions apart from text", async () => {
    const source = "<a b='1\r\n2&#13;'>x\r\ny&lt;<![CDATA[&lt;\r]]><!--c--><?p q?>&#x1f600;</a>";
    const [a] = await elements(source);
    expect(a?.attribs["b"]).toBe("1 2\r");
    expect(a?.children.map((node) => ("data" in node ? [node.type, node.data] : []))).toEqual([
      ["text", "x\ny<"],
      ["text", "&lt;\n"],
      ["comment", "c"],
      ["comment", "?p q?"],
      ["text", "\u{1f600}"],
    ]);
  });

  it("resolves namespaces that are written with entities, as drawing programs do", async () => {
    const source = '<!DOCTYPE svg [<!ENTITY s "http://www.w3.org/2000/svg">]><svg xmlns="&s;"/>';
    expect((await elements(source)).map(({ namespace }) => namespace)).toEqual(["http://www.w3.org/2000/svg"]);
  });

  it("puts the content of a template of XHTML where selectors do not search", async () => {
    const [html, template] = await elements(
      '<html xmlns="http://www.w3.org/1999/xhtml"><template><i/></template></html>',
    );
    expect([html?.name, template instanceof TemplateElement && elementsIn(template.content).length]).toEqual([
      "html",
      1,
    ]);
    expect(template?.children).toEqual([]);
  });

  it("takes attribute names for names only", async () => {
    const [a] = await elements("<a constructor='1' __proto__='2'/>");
    expect(Object.entries(a?.attribs ?? {})).toEqual([
      ["constructor", "1"],
      ["__proto__", "2"],
    ]);
  });
});
