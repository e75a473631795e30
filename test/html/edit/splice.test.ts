import { describe, expect, it } from "vitest";
import { splice } from "../../../src/html/edit/splice.ts";

describe("splice", () => {
  it("replaces, removes and inserts in one pass", () => {
    const replacements = [
      { start: 0, end: 1, text: "A" },
      { start: 2, end: 2, text: "+" },
      { start: 2, end: 4, text: "" },
      { start: 6, end: 6, text: "!" },
    ];
    expect(splice("abcdef", replacements)).toBe("Ab+ef!");
  });

  it("returns the source where nothing is replaced", () => {
    expect(splice("abc", [])).toBe("abc");
  });

  it("throws for replacements that overlap", () => {
    const replacements = [
      { start: 0, end: 3, text: "" },
      { start: 2, end: 4, text: "" },
    ];
    expect(() => splice("abcdef", replacements)).toThrow(RangeError);
  });
});
