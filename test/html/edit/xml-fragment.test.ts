import { describe, expect, it } from "vitest";
import { parseDocument } from "../../../src/html/document/parse-document.ts";
import { parseXmlFragment } from "../../../src/html/edit/xml-fragment.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";

const source = '<!DOCTYPE r [<!ENTITY e "x">]><r xmlns="d" xmlns:p="u"><a xmlns:q="v"/></r>';

async function parse(xml: string) {
  const document = await done(parseDocument("xml", Buffer.from(source)));
  return done(parseXmlFragment(xml, document, elementsOf(document).at(-1) ?? null));
}

describe("parseXmlFragment", () => {
  it("may use the namespaces and the entities of its place", async () => {
    const { tags } = await parse("<p:b/>&e;<q:c p:d='&e;'/>");
    expect(tags.map(({ name, attributes }) => [name, attributes])).toEqual([
      ["b", []],
      ["c", [{ name: "p:d", value: "x" }]],
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
    ["<b>", "<b> is not closed (line 1, column 1)"],
    ["x\n<b></c>", "</c> stands where <b> should be closed (line 2, column 4)"],
    ["<b c=1/>", "the value of the attribute c is not in quotes (line 1, column 4)"],
    ["a & b", "an & must be written as &amp; (line 1, column 3)"],
    ["a < b", "a < must be written as &lt; (line 1, column 3)"],
    ["<z:b/>", "the prefix z is not declared (line 1, column 1)"],
    ["<!DOCTYPE b>", "a declaration cannot stand here (line 1, column 1)"],
    ['<?xml version="1.0"?>', "an XML declaration can stand only at the very beginning (line 1, column 1)"],
    ["</b>", "</b> closes nothing (line 1, column 1)"],
  ])("refuses %s", async (xml, reason) => {
    await expect(parse(xml)).rejects.toMatchObject({
      code: "INVALID_HTML",
      message: `The supplied XML is not well-formed: ${reason}.`,
    });
  });
});
