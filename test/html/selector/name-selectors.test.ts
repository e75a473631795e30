import { describe, expect, it } from "vitest";
import { readAttributeSelector, readTypeSelector } from "../../../src/html/selector/name-selectors.ts";
import { SelectorReader } from "../../../src/html/selector/selector-reader.ts";

describe("readTypeSelector", () => {
  it.each([
    ["p", { kind: "type", name: "p", namespace: "any" }],
    ["*", { kind: "universal", namespace: "any" }],
    ["\\*", { kind: "type", name: "*", namespace: "any" }],
    ["*|P", { kind: "type", name: "P", namespace: "any" }],
    ["|p", { kind: "type", name: "p", namespace: "none" }],
    ["|*", { kind: "universal", namespace: "none" }],
    [".a", undefined],
  ])("it reads %s", (text, expected) => {
    expect(readTypeSelector(new SelectorReader(text))).toEqual(expected);
  });

  it.each(["ns|p", "\\*|p", "*|", "|", "*| p"])("it refuses %s", (text) => {
    expect(() => readTypeSelector(new SelectorReader(text))).toThrow("not valid at offset");
  });
});

describe("readAttributeSelector", () => {
  const attribute = { kind: "attribute", name: "a", namespace: "none", operator: "exists", value: "", flag: null };

  it.each([
    ["a]", {}],
    [" a ]", {}],
    ["a", {}],
    ["a=b]", { operator: "=", value: "b" }],
    ["a ~= 'b c' i ]", { operator: "~=", value: "b c", flag: "i" }],
    ['a|="b"S]', { operator: "|=", value: "b", flag: "s" }],
    ["a^=b]", { operator: "^=", value: "b" }],
    ["a$=b]", { operator: "$=", value: "b" }],
    ["a*=b]", { operator: "*=", value: "b" }],
    ["*|a]", { namespace: "any" }],
    ["|a|=b]", { operator: "|=", value: "b" }],
    ["A=B]", { name: "A", operator: "=", value: "B" }],
  ])("it reads [%s", (text, expected) => {
    expect(readAttributeSelector(new SelectorReader(text), 0)).toEqual({ ...attribute, ...expected });
  });

  it.each([
    "]",
    "1]",
    "*]",
    "ns|a]",
    "a==b]",
    "a!=b]",
    "a~ =b]",
    "a=1]",
    "a=]",
    "a=b x]",
    "a=b i i]",
    "a b]",
    "a^/**/=b]",
  ])("it refuses [%s", (text) => {
    expect(() => readAttributeSelector(new SelectorReader(text), 0)).toThrow("not valid at offset");
  });
});
