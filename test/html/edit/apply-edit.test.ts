import { describe, expect, it } from "vitest";
import { settled } from "../../../src/event-loop/sliced-work.ts";
import { applyEdit, placedElements } from "../../../src/html/edit/apply-edit.ts";
import { replaceElements } from "../../../src/html/edit/element-placement.ts";
import type { Place } from "../../../src/html/edit/placement.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

/** Cuts just the given part of the source out, as if that were the element of a name. */
async function cut(page: string, name: string, part: string, maxLength = 1000) {
  const document = await parseHtml(page);
  const elements = elementsOf(document).filter((element) => element.name === name);
  const place: Place = ({ source }, [element]) => {
    const start = source.indexOf(part);
    if (start === -1 || !element) return settled(undefined);
    return settled([{ start, end: start + part.length, text: "", removes: [element] }]);
  };
  return done(applyEdit(document, elements, place, { maxLength }));
}

describe("applyEdit", () => {
  it("makes an edit that is proven", async () => {
    const applied = await cut("<p>a</p>b", "p", "<p>a</p>");
    expect([applied.document.source, applied.isNormalised, applied.elements]).toEqual(["b", false, []]);
  });

  it("tries again on the page in order", async () => {
    const applied = await cut("<P>a</P>b", "p", "<p>a</p>");
    expect([applied.document.source, applied.isNormalised]).toEqual(["<html><head></head><body>b</body></html>", true]);
  });

  it("refuses what does something else", async () => {
    await expect(cut("<p>a</p>b", "p", "a</p>")).rejects.toMatchObject({ code: "INVALID_TARGET" });
  });

  it("refuses a result that is too long", async () => {
    await expect(cut("<p>a</p>bcd", "p", "<p>a</p>", 2)).rejects.toMatchObject({ code: "RESULT_TOO_LARGE" });
  });
});

describe("placedElements", () => {
  it.each([
    [
      "<ul><li class=old>a<li id=1>b<li class=old>c</ul><p id=2>d",
      "<li id=3><b>x</b></li><li id=4>y",
      ["3", "4", "3", "4"],
    ],
    ["<p>a <b class=old>b</b> <i>c</i></p>", "text", []],
  ])("finds the outermost elements that replace others in %s", async (page, html, expected) => {
    const document = await parseHtml(page);
    const replaced = elementsOf(document).filter(({ attribs }) => attribs["class"] === "old");
    const place: Place = (tree, elements) => replaceElements(tree, elements, html, () => {});
    const applied = await done(applyEdit(document, replaced, place, { maxLength: 1000 }));
    expect((await done(placedElements(applied))).map(({ attribs }) => attribs["id"])).toEqual(expected);
  });
});
