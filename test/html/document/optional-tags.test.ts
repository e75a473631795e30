import { describe, expect, it } from "vitest";
import { hasOptionalEndTag, isClosedBy, voidElements } from "../../../src/html/document/optional-tags.ts";

describe("isClosedBy", () => {
  it("knows which start tags end an open element", () => {
    expect([isClosedBy("li", "li"), isClosedBy("p", "div"), isClosedBy("td", "tr"), isClosedBy("dt", "dd")]).toEqual(
      Array(4).fill(true),
    );
    expect([isClosedBy("li", "ul"), isClosedBy("p", "span"), isClosedBy("tr", "td"), isClosedBy("div", "div")]).toEqual(
      Array(4).fill(false),
    );
  });
});

describe("hasOptionalEndTag", () => {
  it("is true of elements whose end tag the standard lets one leave out", () => {
    expect(["p", "li", "td", "option", "body"].every(hasOptionalEndTag)).toBe(true);
    expect(["div", "b", "table", "select", "br"].some(hasOptionalEndTag)).toBe(false);
  });
});

describe("voidElements", () => {
  it("are those that have no end tag at all", () => {
    expect(["br", "img", "wbr"].every((name) => voidElements.has(name))).toBe(true);
    expect(voidElements.has("p")).toBe(false);
  });
});
