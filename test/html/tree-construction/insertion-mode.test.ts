import { expect, it } from "vitest";
import { ignore, ruleTable } from "../../../src/html/tree-construction/insertion-mode.ts";
import { tagNamed } from "../../../src/html/tree-construction/tags.ts";

it("has a rule for each name, several names in one key, and one for all others", () => {
  const rule = (): void => {};
  const table = ruleTable({ "a\n    b": rule, i: ignore }, ignore);
  expect(["a", "b", "i", "p"].map((name) => table[tagNamed(name).id])).toEqual([rule, rule, ignore, ignore]);
  expect(table[0]).toBe(ignore);
});

it("knows no rules for names that it does not know", () => {
  expect(() => ruleTable({ "a bb": ignore }, ignore)).toThrow("bb is no name of a tag");
});
