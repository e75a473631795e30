import { expect, it } from "vitest";
import { htmlNamespace, mathNamespace, svgNamespace } from "../../../src/html/document/html-names.ts";
import { SourceElement } from "../../../src/html/document/html-nodes.ts";
import {
  foreignBoundaryTag,
  foreignTag,
  isHtmlIntegrationPoint,
  isTextIntegrationPoint,
  openTagCount,
  openTagOf,
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

it.each([
  [mathNamespace, "mi", {}, true, false],
  [svgNamespace, "mi", {}, false, false],
  [svgNamespace, "foreignObject", {}, false, true],
  [svgNamespace, "title", {}, false, true],
  [htmlNamespace, "title", {}, false, false],
  [mathNamespace, "annotation-xml", {}, false, false],
  [mathNamespace, "annotation-xml", { encoding: "Text/HTML" }, false, true],
  [mathNamespace, "annotation-xml", { encoding: "application/xhtml+xml" }, false, true],
  [mathNamespace, "annotation-xml", { encoding: "image/svg+xml" }, false, false],
])("knows whether HTML may stand in %s %s %j", (namespace, name, attributes, isText, isHtml) => {
  const element = new SourceElement(name, namespace, attributes);
  expect([isTextIntegrationPoint(element), isHtmlIntegrationPoint(element)]).toEqual([isText, isHtml]);
});

it("tells what ends a scope from what does not", () => {
  expect(openTagOf(svgNamespace, "desc")).toBe(foreignBoundaryTag);
  expect(openTagOf(svgNamespace, "g")).toBe(foreignTag);
  expect(openTagOf(mathNamespace, "annotation-xml")).toBe(foreignBoundaryTag);
  expect(openTagOf(mathNamespace, "desc")).toBe(foreignTag);
});
