import { describe, expect, it } from "vitest";
import { functionalPseudoClasses, plainPseudoClass, words } from "../../../src/html/selector/selector-names.ts";

describe("plainPseudoClass", () => {
  it("tells what can be evaluated from what no document at rest is in", () => {
    expect(plainPseudoClass("checked")).toBe("checked");
    expect(plainPseudoClass("hover")).toBe("state");
    expect(plainPseudoClass("playing")).toBe("state");
  });

  it.each(["first", "contains", "nth-child", "before", "constructor", ""])("it does not know :%s", (name) => {
    expect(plainPseudoClass(name)).toBeUndefined();
  });
});

describe("functionalPseudoClasses", () => {
  it("has no invention of a library", () => {
    expect(
      ["contains", "eq", "matches", "any", "icontains"].filter((name) => functionalPseudoClasses.has(name)),
    ).toEqual([]);
  });
});

describe("words", () => {
  it("makes a set of a line", () => {
    expect(words("a b")).toEqual(new Set(["a", "b"]));
  });
});
