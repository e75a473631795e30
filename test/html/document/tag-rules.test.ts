import { describe, expect, it } from "vitest";
import {
  hasOptionalEndTag,
  holdsText,
  isClosedBy,
  losesFirstLine,
  voidElements,
} from "../../../src/html/document/tag-rules.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

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

async function element(page: string, name: string) {
  const found = elementsOf(await parseHtml(page)).find((each) => each.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

describe("losesFirstLine", () => {
  it("is true of pre, listing and textarea of HTML", async () => {
    const page = "<pre></pre><textarea></textarea><svg><pre/></svg><p>";
    expect(losesFirstLine(await element(page, "pre"))).toBe(true);
    expect(losesFirstLine(await element(page, "textarea"))).toBe(true);
    expect(losesFirstLine(await element(page, "p"))).toBe(false);
    expect(losesFirstLine(await element("<math><mi><pre>", "mi"))).toBe(false);
  });
});

describe("holdsText", () => {
  it("is true of elements without markup in them", () => {
    expect(["script", "title", "iframe"].every(holdsText)).toBe(true);
    expect(["p", "svg", "toString"].some(holdsText)).toBe(false);
  });
});
