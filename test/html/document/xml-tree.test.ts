import { describe, expect, it } from "vitest";
import { elementSpan, isTagOnly } from "../../../src/html/document/element-span.ts";
import { TemplateElement } from "../../../src/html/document/html-nodes.ts";
import { parseXmlTree } from "../../../src/html/document/xml-document.ts";
import { elementsIn } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";

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
    const source = '<r xmlns="d" xmlns:p="u"><p:a p:b="1" b="2"/><c xmlns=""><d/></c><xml/></r>';
    expect((await elements(source)).map(({ name, namespace, attribs }) => [name, namespace, { ...attribs }])).toEqual([
      ["r", "d", { xmlns: "d", "xmlns:p": "u" }],
      ["a", "u", { "p:b": "1", b: "2" }],
      ["c", "", { xmlns: "" }],
      ["d", "", {}],
      ["xml", "d", {}],
    ]);
  });

  it("keeps the case of names", async () => {
    expect((await elements('<A><a/><linearGradient viewBox=""/></A>')).map(({ name }) => name)).toEqual([
      "A",
      "a",
      "linearGradient",
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
