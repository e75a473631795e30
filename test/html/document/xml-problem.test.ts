import { describe, expect, it } from "vitest";
import { lineAndColumn, XmlProblem } from "../../../src/html/document/xml-problem.ts";

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
