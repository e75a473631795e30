import { describe, expect, it } from "vitest";
import { htmlNamespace } from "../../../src/html/document/html-names.ts";
import { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { FormattingElements } from "../../../src/html/tree-construction/formatting-elements.ts";
import { tagNamed } from "../../../src/html/tree-construction/tags.ts";

function element(name: string, attribs: Record<string, string> = {}): SourceElement {
  return new SourceElement(name, htmlNamespace, attribs);
}

function listOf(...elements: readonly (SourceElement | null)[]): FormattingElements {
  const list = new FormattingElements();
  for (const each of elements) {
    if (each) list.push(each, tagNamed(each.name));
    else list.pushMarker();
  }
  return list;
}

describe("FormattingElements", () => {
  it("keeps three of equal elements, the last ones", () => {
    const fonts = Array.from({ length: 5 }, () => element("font", { size: "1" }));
    const list = listOf(...fonts);
    expect([0, 1, 2].map((index) => list.at(index)?.element)).toEqual(fonts.slice(2));
    expect(list.length).toBe(3);
  });

  it("takes elements with other attributes, or behind a marker, for others", () => {
    const size = (value: string) => element("font", { size: value });
    expect(listOf(size("1"), size("1"), size("1"), size("2"), element("font"), element("b")).length).toBe(6);
    expect(listOf(size("1"), size("1"), size("1"), null, size("1")).length).toBe(5);
  });

  it("finds the last of a name behind the last marker", () => {
    const list = listOf(element("b"), element("i"), null, element("u"));
    expect([list.lastIndexOf("b"), list.lastIndexOf("u")]).toEqual([-1, 3]);
    list.clearToMarker();
    expect([list.length, list.lastIndexOf("b"), list.at(5)]).toEqual([2, 0, null]);
  });

  it("replaces, inserts and removes", () => {
    const [b, i, u] = [element("b"), element("i"), element("u")];
    const list = listOf(b);
    list.insertAt(1, i, tagNamed("i"));
    list.replaceAt(0, u, tagNamed("u"));
    expect([list.indexOfElement(u), list.indexOfElement(i), list.indexOfElement(b)]).toEqual([0, 1, -1]);
    list.removeAt(0);
    expect(list.at(0)?.element).toBe(i);
  });
});
