import { describe, expect, it } from "vitest";
import {
  declarationsIn,
  isName,
  lineAndColumn,
  NamespaceScope,
  qualifiedName,
  XmlProblem,
} from "../../../src/html/document/xml-names.ts";

describe("isName", () => {
  it.each(["a", "_", "a-b.c1", "é", "x:y", "\u{10000}"])("takes %s", (text) => {
    expect(isName(text)).toBe(true);
  });

  it.each(["", "1", "-a", ".a", "a b", "a/", "×", "a\u{f0000}"])("refuses %s", (text) => {
    expect(isName(text)).toBe(false);
  });
});

describe("qualifiedName", () => {
  it.each([
    ["a", { prefix: "", local: "a" }],
    ["é", { prefix: "", local: "é" }],
    ["p:a", { prefix: "p", local: "a" }],
    [":a", undefined],
    ["p:", undefined],
    ["p:a:b", undefined],
    ["p:1", undefined],
  ])("takes %s apart", (text, expected) => {
    expect(qualifiedName(text)).toEqual(expected);
  });
});

describe("NamespaceScope", () => {
  it("finds what the innermost element declares", () => {
    const outer = new NamespaceScope(
      new Map([
        ["", "d"],
        ["p", "u"],
      ]),
    );
    const inner = new NamespaceScope(
      new Map([
        ["", ""],
        ["q", "v"],
      ]),
      outer,
    );
    expect(["", "p", "q", "xml", "r"].map((prefix) => inner.find(prefix))).toEqual([
      "",
      "u",
      "v",
      "http://www.w3.org/XML/1998/namespace",
      undefined,
    ]);
    expect([outer.find(""), new NamespaceScope().find("")]).toEqual(["d", ""]);
  });
});

describe("declarationsIn", () => {
  it("finds the declarations among the attributes", () => {
    expect(declarationsIn({ a: "1", xmlns: "d", "xmlns:p": "u", xmlnsx: "2" })).toEqual(
      new Map([
        ["", "d"],
        ["p", "u"],
      ]),
    );
    expect(declarationsIn({ a: "1" })).toBeUndefined();
  });

  it.each([
    { "xmlns:p": "" },
    { "xmlns:xmlns": "u" },
    { "xmlns:xml": "u" },
    { xmlns: "http://www.w3.org/2000/xmlns/" },
  ])("refuses %o", (attribs) => {
    expect(() => declarationsIn(attribs, 7)).toThrow(expect.objectContaining({ offset: 7 }));
  });
});

describe("lineAndColumn", () => {
  it.each([
    [0, { line: 1, column: 1 }],
    [2, { line: 1, column: 3 }],
    [3, { line: 2, column: 1 }],
    [5, { line: 3, column: 1 }],
    [6, { line: 4, column: 1 }],
  ])("finds offset %i", (offset, expected) => {
    expect(lineAndColumn("ab\nc\r\rd\r\ne".replace("c\r", "c\r"), offset)).toEqual(expected);
  });

  it("takes CRLF for one line end", () => {
    expect(lineAndColumn("a\r\nb", 3)).toEqual({ line: 2, column: 1 });
  });
});

describe("XmlProblem", () => {
  it("says where it is", () => {
    expect(new XmlProblem("a tag is broken", 4).describe("a\nbcd")).toBe("a tag is broken (line 2, column 3)");
  });
});
