import { describe, expect, it } from "vitest";
import { XmlEntities } from "../../../src/html/document/xml-entities.ts";

const entities = (declared: Record<string, string> = {}, hasHtmlNames = false): XmlEntities =>
  new XmlEntities(new Map(Object.entries(declared)), hasHtmlNames);

describe("XmlEntities", () => {
  it.each([
    ["a &amp;&lt;&gt;&quot;&apos; b", "a &<>\"' b"],
    ["&#65;&#x1F600;&#9;", "A\u{1f600}\t"],
    ["&amp;lt;", "&lt;"],
    ["no references", "no references"],
  ])("resolves %s", (raw, expected) => {
    expect(entities().resolve(raw)).toBe(expected);
  });

  it("resolves what was declared, in what was declared", () => {
    expect(entities({ a: "1&b;3", b: "2&amp;" }).resolve("&a;&a;")).toBe("12&312&3");
  });

  it("knows the names of HTML where it is told to", () => {
    expect(entities({}, true).resolve("&nbsp;&eacute;&notin;")).toBe("\u00a0é∉");
    expect(() => entities({}, true).resolve("&nosuch;")).toThrow("&nosuch; is not declared");
    expect(() => entities().resolve("&nbsp;")).toThrow("&nbsp; is not declared");
  });

  it.each([
    ["x & y", 2, "an & must be written as &amp;"],
    ["ab&#0;", 2, "&#0; stands for no character"],
    ["&#xd800;", 0, "&#xd800; stands for no character"],
    ["&#x;", 0, "&#x; stands for no character"],
    ["&1a;", 0, "an & must be written as &amp;"],
    ["&me;", 0, "&me; stands for itself"],
    ["&markup;", 0, "&markup; stands for markup, which is not supported"],
    ["&bad;", 0, "an & must be written as &amp;"],
  ])("refuses %s", (raw, offset, message) => {
    const declared = { me: "&you;", you: "&me;", markup: "<b/>", bad: "&" };
    const thrown = expect(() => entities(declared).resolve(raw));
    thrown.toThrow(expect.objectContaining({ message, offset }));
  });

  it("refuses entities that stand for ever more text, and resolves those that stand for none", () => {
    const laughs = (first: string): Record<string, string> =>
      Object.fromEntries([["l0", first], ...Array.from({ length: 30 }, (_, i) => [`l${i + 1}`, `&l${i};`.repeat(10)])]);
    expect(() => entities(laughs("lol")).resolve("&l30;")).toThrow("stand for too much text");
    expect(entities(laughs("")).resolve("&l30;")).toBe("");
    expect(() => entities({ l: "x".repeat(60_000) }).resolve("&l;".repeat(1000))).toThrow("stand for too much text");
  });
});
