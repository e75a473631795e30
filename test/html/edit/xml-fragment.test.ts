import { describe, expect, it } from "vitest";
import { parseDocument } from "../../../src/html/document/parse-document.ts";
import { xmlFragmentsOf } from "../../../src/html/edit/xml-fragment.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";

const source = '<!DOCTYPE r [<!ENTITY e "x">]><r xmlns="d" xmlns:p="u"><a xmlns:q="v"/></r>';

async function parse(xml: string) {
  const document = await done(parseDocument("xml", Buffer.from(source)));
  return done(xmlFragmentsOf(xml, document)(elementsOf(document).at(-1) ?? null));
}

describe("xmlFragmentsOf", () => {
  it("may use the namespaces and the entities of its place", async () => {
    const { tags } = await parse("<p:b/>&e;<q:c p:d='&e;'/>");
    expect(tags.map(({ name, attributes }) => [name, { ...attributes }])).toEqual([
      ["b", {}],
      ["c", { "p:d": "x" }],
    ]);
  });

  it("lists what a tree should have of it, with lines and columns", async () => {
    const { steps, html } = await parse("t&amp;\r\n<b>\n <c/></b><!--x--><![CDATA[<]]>");
    expect(html).toBe("t&amp;\r\n<b>\n <c/></b><!--x--><![CDATA[<]]>");
    expect(
      steps.map(({ kind, tag, data, parent, line, column }) => [kind, tag?.name ?? data, parent, line, column]),
    ).toEqual([
      ["text", "t&\n", undefined, 1, 1],
      ["start", "b", undefined, 2, 1],
      ["text", "\n ", "b", 2, 4],
      ["start", "c", "b", 3, 2],
      ["end", "c", "b", 3, 1],
      ["end", "b", undefined, 3, 6],
      ["comment", "x", undefined, 3, 10],
      ["text", "<", undefined, 3, 18],
    ]);
  });

  it.each([
    ["<b>", "unclosed tag: b (line 1, column 1)"],
    ["x\n<b></c>", "unexpected close tag (line 2, column 7)"],
    ["<b c=1/>", "unquoted attribute value (line 1, column 6)"],
    ["a & b", "an & must be written as &amp; (line 1, column 3)"],
    ["<b>&</b>&amp;", "an & must be written as &amp; (line 1, column 4)"],
    ["<b c='&'/>", "an & must be written as &amp; (line 1, column 7)"],
    ["a < b", "disallowed character in tag name (line 1, column 4)"],
    ["<z:b/>", 'unbound namespace prefix: "z" (line 1, column 6)'],
    ["<!DOCTYPE b>", "inappropriately located doctype declaration (line 1, column 9)"],
    ['<?xml version="1.0"?>', "an XML declaration must be at the start of the document (line 1, column 6)"],
    ["</b>", "unmatched closing tag: b (line 1, column 4)"],
  ])("refuses %s", async (xml, reason) => {
    await expect(parse(xml)).rejects.toMatchObject({
      code: "INVALID_HTML",
      message: `The supplied XML is not well-formed: ${reason}.`,
    });
  });
});
