import { describe, expect, it } from "vitest";
import { mayFollow, type PseudoElementRule, pseudoElementRule } from "../../../src/html/selector/pseudo-elements.ts";

function ruleOf(name: string): PseudoElementRule {
  const rule = pseudoElementRule(name);
  if (!rule) throw new Error(`There is no ::${name}.`);
  return rule;
}

describe("pseudoElementRule", () => {
  it("tells names from functions", () => {
    expect(pseudoElementRule("before")).toBeDefined();
    expect(pseudoElementRule("before()")).toBeUndefined();
    expect(pseudoElementRule("part()")).toBeDefined();
    expect(pseudoElementRule("part")).toBeUndefined();
    expect(pseudoElementRule("unknown")).toBeUndefined();
  });

  it("knows every name that begins with -webkit-, and no function", () => {
    expect(pseudoElementRule("-webkit-whatever")).toBeDefined();
    expect(pseudoElementRule("-webkit-whatever()")).toBeUndefined();
  });

  it.each([
    ["highlight()", ["x", "-x"], ["", "x y", "1"]],
    ["part()", ["x", "x  y"], ["", "x, y"]],
    ["picker()", ["select", "SELECT"], ["", "input"]],
    ["scroll-button()", ["*", "left", "block-start"], ["", "next", "left right"]],
    ["view-transition-new()", ["*", "a", "a.b.c", ".b", "*.b"], ["", "a b", "#a", "1"]],
  ] as const)("it knows the arguments of ::%s", (name, accepted, refused) => {
    const { argument } = ruleOf(name);
    expect([...accepted, ...refused].filter((text) => argument instanceof RegExp && argument.test(text))).toEqual(
      accepted,
    );
  });
});

describe("mayFollow", () => {
  it.each([
    ["before", ["is"], ["hover", "first-child", "has"]],
    ["part()", ["hover", "lang", "is"], ["first-child", "empty", "nth-child", "horizontal"]],
    ["-webkit-scrollbar", ["horizontal", "hover", "not"], ["focus", "checked"]],
    ["-webkit-slider-thumb", ["hover", "focus", "not"], ["checked", "horizontal"]],
    ["slotted()", [], ["hover", "is"]],
    ["selection", ["window-inactive"], ["hover"]],
  ] as const)("it knows the pseudo-classes behind ::%s", (name, allowed, refused) => {
    expect([...allowed, ...refused].filter((pseudoClass) => mayFollow(ruleOf(name), pseudoClass))).toEqual(allowed);
  });
});
