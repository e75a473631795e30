import { expect, it } from "vitest";
import { atOnce, type SlicedWork } from "../../src/event-loop/sliced-work.ts";
import { elementSpan } from "../../src/html/document/element-span.ts";
import type { SourceElement } from "../../src/html/document/html-nodes.ts";
import { applyEdit, placedElements } from "../../src/html/edit/apply-edit.ts";
import type { Placement } from "../../src/html/edit/placement.ts";
import { fragmentsOf } from "../../src/html/edit/well-formed.ts";
import { done } from "../helpers/done.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { elementsOf } from "./pages.ts";

const limits = { maxBytes: 1e6, maxDepth: 512, maxLength: 1e6 } as never;

/** Replaces the elements of a class by HTML, and names what stands in their place. */
async function placed(page: string, html: string): Promise<string[]> {
  const document = await parseHtml(page);
  const replaced = elementsOf(document).filter(({ attribs }) => attribs["class"] === "old");
  const fragmentIn = fragmentsOf(html);
  function* place(_document: unknown, elements: readonly SourceElement[]): SlicedWork<readonly Placement[]> {
    const placements: Placement[] = [];
    for (const element of elements) {
      const span = elementSpan(element);
      if (!span) throw new Error("it has no place");
      const fragment = yield* fragmentIn(element.parent);
      placements.push({ ...span, text: html, fragment, fragmentStart: 0, removes: [element] });
    }
    return placements;
  }
  const applied = await done(applyEdit(document, replaced, { place }, limits));
  return atOnce(placedElements(applied)).map(({ name, attribs }) => `${name}${attribs["id"] ?? ""}`);
}

it("finds the outermost elements of what was supplied, in every place", async () => {
  const page = "<ul><li class=old>a<li id=1>b<li class=old>c</ul><p id=2>d</p>";
  expect(await placed(page, "<li id=3><b>x</b></li><li id=4>y</li>")).toEqual(["li3", "li4", "li3", "li4"]);
});

it("finds none where text was supplied", async () => {
  expect(await placed("<p>a <b class=old>b</b> <i>c</i></p>", "text")).toEqual([]);
});
