import { describe, expect, it } from "vitest";
import { candidatesFor, elementIndex } from "../../../src/html/selector/element-index.ts";
import { EvaluationClock } from "../../../src/html/selector/evaluation-clock.ts";
import { parseSelector } from "../../../src/html/selector/selector-parser.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const clock = new EvaluationClock(60_000);

describe("elementIndex", () => {
  it("has the elements in document order, and is made once", async () => {
    const document = await parseHtml("<p id=a><b></b><svg><linearGradient id=A /></svg><p>");
    const index = elementIndex(document.root, clock);
    expect(index.all).toEqual(elementsOf(document));
    expect(index.byId.get("a")?.map(({ name }) => name)).toEqual(["p", "linearGradient"]);
    expect(index.byName.get("lineargradient")).toHaveLength(1);
    expect(elementIndex(document.root, clock)).toBe(index);
  });
});

describe("candidatesFor", () => {
  it.each([
    ["p", 2],
    ["P.x", 2],
    ["p#a", 1],
    ["#a:is(p)", 1],
    ["#none", 0],
    ["p:hover", 0],
    [".x", 6],
  ])("it looks for %s among %i elements", async (selector, expected) => {
    const document = await parseHtml("<p id=a><b class=x></b><p>");
    const [[{ compound } = { compound: [] }] = []] = parseSelector(selector);
    expect(candidatesFor(compound, elementIndex(document.root, clock))).toHaveLength(expected);
  });
});
