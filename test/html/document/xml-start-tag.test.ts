import { QuoteType } from "htmlparser2";
import { describe, expect, it } from "vitest";
import { NamespaceScope } from "../../../src/html/document/xml-names.ts";
import { XmlStartTag } from "../../../src/html/document/xml-start-tag.ts";

/** `<a b="1" p:b='2'>` as the tokenizer tells it. */
function startTag(): XmlStartTag {
  const tag = new XmlStartTag(`<a b="1" p:b='2'>`, 0, 2);
  tag.beginAttribute(3, 4);
  tag.addValue(6);
  tag.endAttribute(QuoteType.Double, 8);
  tag.beginAttribute(9, 12);
  tag.addValue(14);
  tag.endAttribute(QuoteType.Single, 16);
  tag.end(16);
  return tag;
}

describe("XmlStartTag", () => {
  it("has a name and attributes", () => {
    const tag = startTag();
    const attribs = tag.readAttributes((start, end) => `${start}-${end}`);
    expect([tag.name, tag.attributeCount, { ...attribs }]).toEqual(["a", 2, { b: "6-7", "p:b": "14-15" }]);
  });

  it("wants prefixes declared", () => {
    expect(() => startTag().checkPrefixes(new NamespaceScope())).toThrow("the prefix p is not declared");
    expect(() => startTag().checkPrefixes(new NamespaceScope(new Map([["p", "u"]])))).not.toThrow();
  });

  it("wants blanks between attributes, values, and quotes", () => {
    const tag = new XmlStartTag(`<a b c=d e="1"f`, 0, 2);
    tag.beginAttribute(3, 4);
    expect(() => tag.endAttribute(QuoteType.NoValue, 5)).toThrow("the attribute b has no value");
    tag.addValue(7);
    expect(() => tag.endAttribute(QuoteType.Unquoted, 8)).toThrow("the value of the attribute b is not in quotes");
    expect(() => tag.beginAttribute(4, 5)).toThrow("a tag is broken");
    expect(() => tag.end(8)).toThrow("a tag is broken");
  });
});
