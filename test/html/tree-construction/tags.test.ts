import { expect, it } from "vitest";
import {
  foreignBoundaryTag,
  foreignTag,
  openTagCount,
  tagNamed,
  tagsNamed,
  trait,
  traitsOf,
} from "../../../src/html/tree-construction/tags.ts";

const has = (name: string, wanted: number): boolean => (traitsOf(tagNamed(name)) & wanted) !== 0;

it("knows what an element is to the rules of the parser", () => {
  expect(["p", "div", "li", "table"].map((name) => has(name, trait.special))).toEqual([true, true, true, true]);
  expect(["p", "div", "li", "table"].map((name) => has(name, trait.endsListItems))).toEqual([false, false, true, true]);
  expect(["select", "button", "ul"].map((name) => has(name, trait.scope))).toEqual([true, false, false]);
  expect(["select", "button", "ul"].map((name) => has(name, trait.buttonScope))).toEqual([true, true, false]);
  expect(["select", "button", "ul"].map((name) => has(name, trait.listItemScope))).toEqual([true, false, true]);
  expect(["template", "td", "table"].map((name) => has(name, trait.tableScope))).toEqual([true, false, true]);
  expect(["option", "tr", "b"].map((name) => has(name, trait.impliedEnd))).toEqual([true, false, false]);
  expect(["option", "tr", "b"].map((name) => has(name, trait.impliedEndThoroughly))).toEqual([true, true, false]);
  expect(traitsOf({ name: "x-y", id: 0 })).toBe(0);
});

it("has two names for all elements of SVG and MathML", () => {
  expect(traitsOf(foreignTag)).toBe(0);
  expect(traitsOf(foreignBoundaryTag) & trait.scope).toBe(trait.scope);
  expect(Math.max(foreignTag.id, foreignBoundaryTag.id)).toBe(openTagCount - 1);
});

it("gives tags by their names, and knows no others", () => {
  expect(tagsNamed("a", "b").a).toBe(tagNamed("a"));
  expect(() => tagNamed("x-y")).toThrow(TypeError);
});
