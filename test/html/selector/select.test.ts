import { describe, expect, it, onTestFinished, test, vi } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { ElementIndex } from "../../../src/html/selector/element-index.ts";
import { compileSelector, indexing, selection } from "../../../src/html/selector/select.ts";
import { selectElements } from "../../elements/selected.ts";
import { select } from "../../elements/selecting.ts";
import { sample } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("selectElements", () => {
  it("finds the elements of one document after those of another", async () => {
    const selector = compileSelector("div:has(b) p");
    const first = await parseHtml("<div><b></b><p id=x></p></div>");
    const second = await parseHtml("<div><p id=y></p></div>");
    expect([first, second, first].map((document) => selectElements(document, selector).length)).toEqual([1, 0, 1]);
  });
});

test("indexing makes only the lists from which a selection begins", async () => {
  const asked = vi.spyOn(ElementIndex.prototype, "with");
  onTestFinished(() => asked.mockRestore());
  atOnce(indexing(await parseHtml("<ul><li class=a>".repeat(20)), compileSelector("ul > .a, li #b")));
  expect(asked.mock.calls.map(([, name]) => name)).toEqual(["ul", "li"]);
});

describe("the limits of a selection", () => {
  it("refuses more matches than allowed", async () => {
    const error = { code: "TOO_MANY_MATCHES" };
    await expect(select("<p><p><p>", "p", { maxMatches: 2 })).rejects.toMatchObject(error);
    await expect(select("<p>".repeat(10_001), "p")).rejects.toMatchObject(error);
    await expect(select("<p>".repeat(10_000), "p")).resolves.toHaveLength(10_000);
  });

  it("stops when the steps are used up, whether or not the document was searched before", async () => {
    const error = expect.objectContaining({ code: "SELECTOR_TOO_COSTLY" });
    const document = await parseHtml("<p class=a>".repeat(1000));
    const selector = compileSelector(".a:nth-child(n)");
    const needed = 13_000; // each is looked at three times, and its position kept
    for (let time = 1; time <= 2; time += 1) {
      expect(selectElements(document, selector, { maxSelectionSteps: needed })).toHaveLength(1000);
      expect(() => selectElements(document, selector, { maxSelectionSteps: needed - 1 })).toThrow(error);
    }
  });
});

describe("an element that takes long to look at", () => {
  const million = 1_000_000;

  const costly = [
    ["letters of two cases", `<p title="${"A\u00e9".repeat(3 * million)}">`, "[title=x i]"],
    ["words", `<p title="${"a".repeat(5 * million)}">`, "[title~=a]"],
    ["classes", `<p class="${"a".repeat(5 * million)}">`, ".a"],
    ["a text nearly found", `<p title="${`${"a".repeat(2000)}b`.repeat(200)}">`, `[title*="${"a".repeat(3900)}"]`],
    ["a language", `<p lang="${"a-".repeat(3 * million)}">`, ":lang('*-b')"],
  ] as const;

  it.each(sample(costly, 2))("is too costly: %s", async (_what, html, selector) => {
    await expect(select(html, selector)).rejects.toMatchObject({ code: "SELECTOR_TOO_COSTLY" });
  });

  it.each([
    ["a picture in its address", `<img src="data:,${"A".repeat(million)}">`, "[src*='logo.png' i]", 0],
    ["many classes", `<p class="${"a b ".repeat(100_000)}c">`, ".c", 1],
    ["a type of thousands of letters", `<input type="${"checkbox".repeat(1000)}" required>`, ":required", 1],
  ])("is looked at with %s", async (_what, html, selector, count) => {
    expect(await select(html, selector)).toHaveLength(count);
  });
});

describe("compileSelector", () => {
  it("gives the same selector compiled once for the same limits", () => {
    expect(compileSelector("ul > li")).toBe(compileSelector("ul > li"));
    expect(() => compileSelector("ul > li", { maxCompounds: 1 })).toThrow("more than 1");
  });
});

describe("selection", () => {
  it.each([
    ["p:nth-child(2n)", 10_000],
    ["body:has(i)", 1],
    ["p:not(div p, b ~ p)", 20_000],
    [":dir(rtl)", 0],
    [":nth-last-child(odd of :not(i))", 10_002],
    ["p ~ i", 1],
    [`${":is(".repeat(60)}p${")".repeat(60)}`, 20_000],
  ])("comes in small pieces: %s", async (selector, expected) => {
    const document = await parseHtml(`<!doctype html><body dir=auto>${"<p>1</p>".repeat(20_000)}<i>`);
    const work = selection(document, compileSelector(selector), { maxMatches: 100_000 });
    let pieces = 1;
    let piece = work.next();
    for (; !piece.done; piece = work.next()) pieces += 1;
    expect(piece.value).toHaveLength(expected);
    expect(pieces).toBeGreaterThan(5);
  });

  it.each(["div p", "#outer p", "div.x p, div.x div p", "section p"])(
    "finds the same among few candidates as among many: %s",
    async (selector) => {
      const part = "<div class=x><p></p><div><p></p></div></div><section><p></p><div class=x></div></section><p></p>";
      const page = (more: string): string => `<div id=outer>${part}</div>${part}<p>${more}`;
      const few = await select(page(""), selector);
      const many = await select(page("<b><p></b>".repeat(100)), selector);
      expect(many).toEqual(few);
      expect(few.length).toBeGreaterThan(1);
    },
  );

  it("does not walk the page for what lies in an element with an id", async () => {
    const page = `<ul id=todo><li>1<li>2</ul>${"<ul><li></ul>".repeat(10_000)}`;
    expect(await select(page, "#todo li", { maxSelectionSteps: 50 })).toHaveLength(2);
    expect(await select(page, "#todo > li:first-child", { maxSelectionSteps: 50 })).toHaveLength(1);
  });
});

const nested = `<!doctype html><body><div id=a><p id=b class=x></p><div id=c><p id=d></p><i id=e></i></div><p id=f class=x></p></div>
<template><p id=hidden></p></template>`;

describe("evaluation", () => {
  it.each([
    ["div p", ["b", "d", "f"]],
    ["div div p", ["d"]],
    ["div > p", ["b", "d", "f"]],
    ["body > div > p", ["b", "f"]],
    [".x + div", ["c"]],
    [".x ~ p", ["f"]],
    ["p + i, .x ~ .x", ["e", "f"]],
    ["div > * > p, div > p", ["b", "d", "f"]],
    ["f, p, i", ["b", "d", "e", "f"]],
    ["#f, #a, #e", ["a", "e", "f"]],
    ["p:not(div div *)", ["b", "f"]],
    [":is(body > div, .x + *) > p", ["b", "d", "f"]],
    ["div:has(i)", ["a", "c"]],
    ["div:has(> i)", ["c"]],
    ["p:has(+ div), p:has(~ p)", ["b"]],
    ["div:has(> p + div > i)", ["a"]],
    ["p:has(+ div i)", ["b"]],
    ["div:not(:has(.x))", ["c"]],
    ["div:has(p:nth-child(1):not(.x))", ["a", "c"]],
    [":has(:is(#a > div p))", ["html", "body", "a", "c"]],
    ["template *, #hidden", []],
    ["b p", []],
    ["div:hover p", []],
  ])("it selects %s in document order", async (selector, expected) => {
    expect(await select(nested, selector)).toEqual(expected);
  });

  it.each([
    ["64 descendants", "<div>", "<b>", `${"div ".repeat(63)}x`, 64, []],
    ["children and descendants", "<div>", "<b>", `${"div > ".repeat(31)}${"div ".repeat(32)}b`, 64, ["b"]],
    ["siblings", "<p></p>", "<p id=z>", "p:has(~ x), x ~ p, #z:nth-last-child(1)", 5, ["z"]],
  ])(
    "takes a few steps for each element and compound: %s",
    async (_what, piece, end, selector, compounds, expected) => {
      for (const count of [100, 200, 400]) {
        const maxSelectionSteps = 5 * (count + 5) * compounds; // element by element, there would be an exponential number
        expect(await select(piece.repeat(count) + end, selector, { maxSelectionSteps })).toEqual(expected);
      }
    },
  );
});
