import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import type { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { parseEditedPart, parseSource } from "../../../src/html/document/parse-document.ts";
import { carryIndex, type ElementIndex, elementIndex } from "../../../src/html/selector/element-index.ts";
import { parseSelector } from "../../../src/html/selector/selector-parser.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { seededRandom, timesOf } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("elementIndex", () => {
  it("has the elements in document order, and is made once", async () => {
    const document = await parseHtml("<p id=a><b></b><svg><linearGradient id=A /></svg><p>");
    const index = atOnce(elementIndex(document.root));
    expect(index.all).toEqual(elementsOf(document));
    expect(atOnce(elementIndex(document.root))).toBe(index);
  });

  it("is made once for all who ask at the same time, as are its lists", async () => {
    const { root } = await parseHtml("<p class=a></p>".repeat(9000));
    const first = elementIndex(root);
    expect(first.next().done).toBe(false);
    const index = atOnce(elementIndex(root));
    expect(first.next()).toEqual({ done: true, value: index });
    const list = index.with("class", "a");
    expect(list.next().done).toBe(false);
    const found = atOnce(index.with("class", "a"));
    expect([found.length, list.next()]).toEqual([9000, { done: true, value: found }]);
  });

  it("finds by id, class and name in any case, each element once", async () => {
    const page = '<p id=a class="x  Y x"><b class="\ty"></b><svg><linearGradient id=A /></svg><p class>';
    const index = atOnce(elementIndex((await parseHtml(page)).root));
    const names = (feature: "id" | "class" | "type", value: string): string[] =>
      atOnce(index.with(feature, value)).map(({ name }) => name);
    expect(names("id", "a")).toEqual(["p", "linearGradient"]);
    expect(names("type", "lineargradient")).toEqual(["linearGradient"]);
    expect(names("class", "x")).toEqual(["p"]);
    expect(names("class", "y")).toEqual(["p", "b"]);
    expect(names("class", "z")).toEqual([]);
  });

  it("finds few elements among which all are that match a compound selector", async () => {
    const page = `<p id=a class=x>${"<b class=x></b>".repeat(20)}${"<i></i>".repeat(20)}<p>`;
    const index = atOnce(elementIndex((await parseHtml(page)).root));
    const found = ["p", "P.x", "p#a", "#a:is(p)", "#none", "p:hover", ".x", "b.x", "*", ":is(.x)"].map((selector) => {
      const [[{ compound } = { compound: [] }] = []] = parseSelector(selector);
      return [selector, atOnce(index.candidatesFor(compound)).length];
    });
    expect(found.join(" ")).toBe("p,2 P.x,2 p#a,1 #a:is(p),1 #none,0 p:hover,0 .x,21 b.x,20 *,45 :is(.x),45");
  });
});

describe("carryIndex", () => {
  const features = ["id", "class", "type"] as const;

  /** Where the elements of each list begin, by feature and key; the lists are made where they are not there. */
  function placesIn(index: ElementIndex, all: readonly SourceElement[]): unknown {
    const places = (list: readonly SourceElement[]): unknown => list.map((each) => all.indexOf(each));
    const keys = { id: ["a", "b", "n"], class: ["x", "y", "new"], type: ["p", "i", "b", "tbody", "table", "body"] };
    return [
      places(index.all),
      features.map((feature) => keys[feature].map((key) => places(atOnce(index.with(feature, key))))),
    ];
  }

  it("makes the index that the next version would get, whatever was edited", async () => {
    const filler = "<p class=x>some <i>words</i> and <a href=x>more</a></p>\n<table><tr><td class=y>1</table>".repeat(
      80,
    );
    const random = seededRandom(63);
    let document = await parseHtml(`<!doctype html><div id=a>${filler}</div><b id=b>${filler}</b>`);
    let carried = 0;
    for (let count = 0; count < timesOf(40, 400); count += 1) {
      placesIn(atOnce(elementIndex(document.root)), []);
      const paragraphs = elementsOf(document).filter(({ name, startIndex }) => name === "p" && startIndex !== null);
      const { startIndex, endIndex } = paragraphs[Math.floor(random() * paragraphs.length)] as SourceElement;
      const [start, end] = [startIndex as number, (endIndex as number) + 1];
      const text = ["", "<p class=new>a", "<p><i id=n>b</i></p><p class='x new'>c</p>", "<table><tr><td>d</table><p>"][
        Math.floor(random() * 4)
      ] as string;
      const source = document.source.slice(0, start) + text + document.source.slice(end);
      const part = await done(parseEditedPart(source, { start, end, shift: text.length - (end - start) }, document));
      const next = part ? await done(part.join()) : await done(parseSource(source, document));
      if (part?.neighbours) {
        atOnce(carryIndex(document.root, next.root, part.neighbours));
        carried += 1;
        const all = elementsOf(next);
        const own = atOnce(elementIndex((await done(parseSource(source, next))).root));
        expect(placesIn(atOnce(elementIndex(next.root)), all)).toEqual(placesIn(own, own.all));
      }
      document = next;
    }
    expect(carried).toBeGreaterThan(20);
  });

  it("comes in pieces where an edit put much in", async () => {
    const filler = "<li>b</li>".repeat(2000);
    const document = await parseHtml(`<ul>${filler}<li id=a>a</li>${filler}</ul>`);
    for (const feature of features) atOnce(atOnce(elementIndex(document.root)).with(feature, "a"));
    const items = Array.from({ length: 20_000 }, (_, i) => `<li id=n${i} class=x>`).join("");
    const source = document.source.replace("<li id=a>a</li>", items);
    const start = 4 + filler.length;
    const change = { start, end: start + 15, shift: items.length - 15 };
    const part = await done(parseEditedPart(source, change, document));
    const next = part && (await done(part.join()));
    if (!part?.neighbours || !next) throw new Error("the part can be parsed alone");
    const pieces = [...carryIndex(document.root, next.root, part.neighbours)].length;
    expect(pieces).toBeGreaterThan(20); // each with some thousands of elements, for each of the lists
    expect(atOnce(atOnce(elementIndex(next.root)).with("id", "n19999"))).toHaveLength(1);
    expect(atOnce(atOnce(elementIndex(next.root)).with("class", "x"))).toHaveLength(20_000);
  });
});
