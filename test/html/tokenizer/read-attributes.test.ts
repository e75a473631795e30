import { expect, it } from "vitest";
import { noAttributes } from "../../../src/html/document/attributes.ts";
import { readAttributes } from "../../../src/html/tokenizer/read-attributes.ts";

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

it("gives all tags without attributes the same", () => {
  expect(readAttributes("<p>", 0)).toBe(noAttributes);
});

it("renames attributes as it is told", () => {
  expect({ ...readAttributes("<svg VIEWBOX=0>", 0, (name) => name.toUpperCase()) }).toEqual({ VIEWBOX: "0" });
});
