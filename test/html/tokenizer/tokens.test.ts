import { expect, it } from "vitest";
import { readDoctype, TagNameReader, tagCount, tagNames, unknownTag } from "../../../src/html/tokenizer/tokens.ts";

const read = (name: string) => new TagNameReader(`<${name}>`).read(1, 1 + name.length);

it("knows a name in any case, wherever it stands", () => {
  expect(read("blockQuote")).toBe(tagNames.get("blockquote"));
  for (const [name, tag] of tagNames) {
    expect(read(name)).toBe(tag);
    expect(read(name.toUpperCase())).toBe(tag);
    expect(tag.id > unknownTag && tag.id < tagCount).toBe(true);
  }
});

it("gives other names in lower case, and one name the same each time", () => {
  const reader = new TagNameReader("<X-Y x-y \0>");
  const first = reader.read(1, 4);
  expect(first).toEqual({ name: "x-y", id: unknownTag });
  expect(reader.read(5, 8)).toBe(first);
  expect(reader.read(9, 10).name).toBe("\ufffd");
});

it("takes no name for another one that only begins like it or differs in a bit", () => {
  for (const name of ["tables", "tabl", "t\u0081ble", "{", "\u212abd"]) expect(read(name).id).toBe(unknownTag);
});

it.each([
  [" html", true, ["html", null, null, false]],
  [" HTML ", true, ["html", null, null, false]],
  ["html", true, ["html", null, null, false]],
  ["", true, [null, null, null, true]],
  [" html", false, ["html", null, null, true]],
  [' html PUBLIC "p" "s"', true, ["html", "p", "s", false]],
  [" html public'p''s'x", true, ["html", "p", "s", false]],
  [' html PUBLIC "p"', true, ["html", "p", null, false]],
  [' html PUBLIC "p" s', true, ["html", "p", null, true]],
  [' html PUBLIC "p', true, ["html", "p", null, true]],
  [" html PUBLIC", true, ["html", null, null, true]],
  [' html SYSTEM "s"', true, ["html", null, "s", false]],
  [' html SYSTEM "s" x', false, ["html", null, "s", false]],
  [" html SYSTEM ''", true, ["html", null, "", false]],
  [" html x", true, ["html", null, null, true]],
  [" h\0\r\nx", true, ["h\ufffd", null, null, true]],
] as const)("reads <!doctype%s", (text, isComplete, [name, publicId, systemId, forcesQuirks]) => {
  expect(readDoctype(text, isComplete)).toEqual({ name, publicId, systemId, forcesQuirks });
});
