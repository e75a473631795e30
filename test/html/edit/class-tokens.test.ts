import { describe, expect, it } from "vitest";
import { withClasses, withoutClasses } from "../../../src/html/edit/class-tokens.ts";

describe("withClasses", () => {
  it.each([
    ["", "a", "a"],
    ["a", "a", "a"],
    [" a\tb ", "c a c", " a\tb c"],
    ["a", "b\nc", "a b c"],
  ])("makes of %j with %j: %j", (value, classes, expected) => {
    expect(withClasses(value, classes)).toBe(expected);
  });
});

describe("withoutClasses", () => {
  it.each([
    ["a", "a", ""],
    ["a  b", "c", "a  b"],
    ["a  b\tc", "c a", "b"],
    ["a b a", "a", "b"],
    [" ab a ", "a", " ab "],
  ])("makes of %j without %j: %j", (value, classes, expected) => {
    expect(withoutClasses(value, classes)).toBe(expected);
  });

  it("reads each character a few times only", () => {
    expect(withoutClasses(`a${" ".repeat(300_000)}b c`, "c")).toHaveLength(300_002);
  });
});
