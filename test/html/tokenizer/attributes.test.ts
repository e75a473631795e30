import { describe, expect, it } from "vitest";
import { AttributeScanner, Attributes, readAttributes } from "../../../src/html/tokenizer/attributes.ts";

it("has no attribute that nobody set", () => {
  expect(["constructor", "toString", "__proto__"].map((name) => new Attributes()[name])).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(Object.isFrozen(readAttributes("<p>", 0))).toBe(true); // all tags without attributes share it
});

function scan(tag: string) {
  const scanner = new AttributeScanner(tag);
  scanner.begin(tag.search(/[\s/>]|$/));
  const found: string[] = [];
  while (scanner.next()) {
    const { nameStart, nameEnd, valueStart, valueEnd } = scanner;
    found.push(`${tag.slice(nameStart, nameEnd)}: ${tag.slice(valueStart, valueEnd)}`);
  }
  return { found, position: scanner.position, isSelfClosing: scanner.isSelfClosing };
}

describe("AttributeScanner", () => {
  it.each([
    ["<a>", []],
    ["<a b>", ["b: "]],
    ["<a b=c d='e f' g=\"h>\">", ["b: c", "d: e f", "g: h>"]],
    ["<a\nb\r=\t'c'd=e>", ["b: c", "d: e"]],
    ["<a b=c/d/>", ["b: c/d/"]],
    ["<a =b==c>", ["=b: =c"]],
    ["<a b=>", ["b: "]],
    ["<a / b/c>", ["b: ", "c: "]],
    ["<a \"b'<c>", ["\"b'<c: "]],
  ])("finds what %j has", (tag, expected) => {
    expect(scan(tag)).toMatchObject({ found: expected, position: tag.length - 1 });
  });

  it.each(["<a", "<a b", "<a b=", "<a b='c", "<a b=c", "<a b='c'", "<a /"])("finds no end of %s", (tag) => {
    expect(scan(tag).position).toBe(-1);
  });

  it.each([
    ["<a/>", true],
    ["<a b />", true],
    ["<a b='c'/>", true],
    ["<a b=c/>", false],
    ["<a / >", false],
    ["<a/b>", false],
  ])("knows whether %s closes itself", (tag, expected) => {
    expect(scan(tag).isSelfClosing).toBe(expected);
  });
});

it("reads the attributes of the tag at an offset, of two with one name the first", () => {
  expect({ ...readAttributes("x<P Id=a ID=b title='c&amp;d\r\n' e>", 1) }).toEqual({ id: "a", title: "c&d\n", e: "" });
});

it("reads names that JavaScript's objects have, and NULs", () => {
  const attributes = readAttributes("<p __proto__=a constructor=b \0=\0>", 0);
  expect(Object.entries(attributes)).toEqual([
    ["__proto__", "a"],
    ["constructor", "b"],
    ["\ufffd", "\ufffd"],
  ]);
});

it("renames attributes as it is told", () => {
  expect({ ...readAttributes("<svg VIEWBOX=0>", 0, (name) => name.toUpperCase()) }).toEqual({ VIEWBOX: "0" });
});
