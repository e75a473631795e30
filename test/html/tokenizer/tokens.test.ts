import { expect, it } from "vitest";
import { TagNameReader, tagCount, tagNames, unknownTag } from "../../../src/html/tokenizer/tokens.ts";

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
