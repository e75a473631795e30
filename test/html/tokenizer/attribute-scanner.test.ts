import { describe, expect, it } from "vitest";
import { AttributeScanner, isBlank } from "../../../src/html/tokenizer/attribute-scanner.ts";

function scan(tag: string) {
  const scanner = new AttributeScanner(tag);
  scanner.begin(tag.search(/[\s/>]|$/));
  const found: [string, string][] = [];
  while (scanner.next()) {
    found.push([tag.slice(scanner.nameStart, scanner.nameEnd), tag.slice(scanner.valueStart, scanner.valueEnd)]);
  }
  return { found, position: scanner.position, isSelfClosing: scanner.isSelfClosing };
}

describe("AttributeScanner", () => {
  it.each<[string, [string, string][]]>([
    ["<a>", []],
    ["<a b>", [["b", ""]]],
    [
      "<a b=c d='e f' g=\"h>\">",
      [
        ["b", "c"],
        ["d", "e f"],
        ["g", "h>"],
      ],
    ],
    [
      "<a\nb\r=\t'c'd=e>",
      [
        ["b", "c"],
        ["d", "e"],
      ],
    ],
    ["<a b=c/d/>", [["b", "c/d/"]]],
    ["<a =b==c>", [["=b", "=c"]]],
    ["<a b=>", [["b", ""]]],
    [
      "<a / b/c>",
      [
        ["b", ""],
        ["c", ""],
      ],
    ],
    ["<a \"b'<c>", [["\"b'<c", ""]]],
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

it("takes five characters for white space", () => {
  const blanks = Array.from({ length: 256 }, (_, code) => code).filter(isBlank);
  expect(blanks).toEqual([9, 10, 12, 13, 32]);
});
