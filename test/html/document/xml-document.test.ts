import { describe, expect, it } from "vitest";
import { ParseBudget } from "../../../src/html/document/parse-budget.ts";
import { buildXmlTree, parseXmlTree } from "../../../src/html/document/xml-document.ts";
import { XmlEntities } from "../../../src/html/document/xml-entities.ts";
import { NamespaceScope } from "../../../src/html/document/xml-names.ts";
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
      "The document is not well-formed XML: </a> stands where <b> should be closed (line 3, column 1).",
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
    // The pieces have 32 Ki characters: their end falls everywhere.
    for (let length = 32_768 - source.length; length < 32_768; length += 1) {
      expect(await shape("c".repeat(length)), `${length}`).toEqual(expected);
    }
  });

  it("makes several nodes of long text, none of which ends within a reference", async () => {
    const { root } = await done(parseXmlTree(`<a>${"&amp;\r\n]]".repeat(50_000)}</a>`));
    const [a] = elementsIn(root);
    expect(a?.children.length).toBeGreaterThan(1);
    expect(a?.children.map((node) => ("data" in node ? node.data : "")).join("")).toBe("&\n]]".repeat(50_000));
    await expect(done(parseXmlTree(`<a>${"]".repeat(200_000)}></a>`))).rejects.toThrow("]]> must be written as ]]&gt;");
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
    const references = `<a b="${"&amp;".repeat(300_000)}"/>`;
    await expect(done(parseXmlTree(references))).rejects.toMatchObject({ code: "DOCUMENT_TOO_COSTLY" });
  });
});

describe("buildXmlTree", () => {
  it("reads a part of a document: text and several elements, with the namespaces of their place", async () => {
    const scope = new NamespaceScope(new Map([["x", "u"]]));
    const context = { isDocument: false, entities: new XmlEntities(), scope };
    const root = await done(buildXmlTree("a<b/><x:c/>d", context, new ParseBudget()));
    expect(root.children.map(({ type }) => type)).toEqual(["text", "tag", "tag", "text"]);
    expect(elementsIn(root).map(({ name, namespace }) => [name, namespace])).toEqual([
      ["b", ""],
      ["c", "u"],
    ]);
  });
});
