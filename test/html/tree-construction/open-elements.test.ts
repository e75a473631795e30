import { describe, expect, it } from "vitest";
import { htmlNamespace } from "../../../src/html/document/html-names.ts";
import { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { noAttributes } from "../../../src/html/tokenizer/attributes.ts";
import { tagNames } from "../../../src/html/tokenizer/tokens.ts";
import { FormattingElements, OpenElements } from "../../../src/html/tree-construction/open-elements.ts";
import { tagNamed, trait } from "../../../src/html/tree-construction/tags.ts";

const tagOf = (name: string) => tagNames.get(name) ?? { name, id: 0 };

function stackOf(...names: readonly string[]) {
  const popped: string[] = [];
  const open = new OpenElements(
    () => {},
    ({ name }) => popped.push(name),
  );
  const elements = names.map((name) => new SourceElement(name, htmlNamespace, noAttributes));
  for (const element of elements) open.push(element, tagOf(element.name));
  return { open, elements, popped };
}

const namesOf = (open: OpenElements): (string | undefined)[] =>
  Array.from({ length: open.length }, (_, index) => open.elementAt(index)?.name);

describe("OpenElements", () => {
  it("knows the innermost element, and the topmost one of each name", () => {
    const { open } = stackOf("html", "body", "x-y", "p", "x-y", "b");
    expect([open.current?.name, open.currentTag]).toEqual(["b", tagNamed("b")]);
    expect(["html", "x-y", "p", "b", "i", "x-z"].map((name) => open.indexOf(tagOf(name)))).toEqual([
      0, 4, 3, 5, -1, -1,
    ]);
    open.popTo(4);
    expect([open.indexOf(tagOf("x-y")), open.indexOf(tagOf("b")), open.has(tagOf("b"))]).toEqual([2, -1, false]);
  });

  it("looks for elements within a scope", () => {
    const { open } = stackOf("html", "body", "p", "button", "ul", "li", "b");
    const inScope = (name: string, scope?: "buttonScope" | "listItemScope") => open.hasInScope(tagOf(name), scope);
    expect([inScope("p"), inScope("p", "buttonScope"), inScope("li", "listItemScope")]).toEqual([true, false, true]);
    expect([inScope("button", "listItemScope"), inScope("html"), inScope("i")]).toEqual([false, true, false]);
  });

  it("pops down to a name, a trait, or what is no implied end", () => {
    const { open, popped } = stackOf("html", "body", "table", "tbody", "tr", "td", "p", "li");
    open.generateImpliedEndTags();
    expect(popped.splice(0)).toEqual(["li", "p"]);
    open.generateImpliedEndTags(tagNamed("tr"), trait.impliedEndThoroughly);
    expect(popped.splice(0)).toEqual(["td"]);
    open.clearTo(trait.tableScope);
    expect(popped.splice(0)).toEqual(["tr", "tbody"]);
    open.popThrough(tagNamed("body"));
    expect(popped).toEqual(["table", "body"]);
  });

  it("takes an element out of the middle", () => {
    const { open, elements, popped } = stackOf("html", "body", "form", "p", "form", "b");
    const [, , first, p] = elements;
    if (first) open.remove(first, tagNamed("form"));
    if (p) open.forget(p, tagNamed("p"));
    expect([namesOf(open), popped]).toEqual([["html", "body", "form", "b"], ["form"]]);
    expect(open.indexOf(tagNamed("form"))).toBe(2);
    expect(first && open.indexOfElement(first, tagNamed("form"))).toBe(-1);
  });

  it("gives a part of itself away, and takes it back", () => {
    const { open, popped } = stackOf("html", "body", "b", "p", "i");
    const [b, p, i] = open.cutFrom(2);
    expect(namesOf(open)).toEqual(["html", "body"]);
    if (b && p && i) open.putBack([p, b, i]);
    expect([namesOf(open), popped]).toEqual([["html", "body", "p", "b", "i"], []]);
    expect(open.topmostWith("special")).toBe(2);
  });

  it("tells how deep it is before it is too late", () => {
    const depths: number[] = [];
    const open = new OpenElements(
      (depth) => depths.push(depth),
      () => {},
    );
    for (const name of ["html", "body"]) open.push(new SourceElement(name, htmlNamespace, noAttributes), tagOf(name));
    expect(depths).toEqual([1, 2]);
  });

  it("is empty in the end", () => {
    const { open } = stackOf("html");
    open.pop();
    open.pop();
    expect([open.length, open.current, open.currentTag, open.topmostWith("scope")]).toEqual([
      0,
      undefined,
      undefined,
      -1,
    ]);
  });
});

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
