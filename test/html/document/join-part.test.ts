import { describe, expect, it } from "vitest";
import type { SourceElement } from "../../../src/html/document/html-nodes.ts";
import { parseEditedPart } from "../../../src/html/document/parse-document.ts";
import type { SourceDocument } from "../../../src/html/document/source-document.ts";
import { applyEdit } from "../../../src/html/edit/apply-edit.ts";
import { attributeChanges } from "../../../src/html/edit/attribute-placement.ts";
import {
  fillElements,
  insertMarkup,
  removeElements,
  replaceElements,
} from "../../../src/html/edit/element-placement.ts";
import type { Place } from "../../../src/html/edit/placement.ts";
import { elementsOf, realPages } from "../../elements/pages.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";
import { done } from "../../helpers/done.ts";
import { sample, seededRandom, timeForMore, timesOf } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { shapeOf } from "../tree-shape.ts";

const limits = { maxLength: 10_000_000 };
const pieces = [
  "x",
  "<p>new",
  "<i id=n>new</i>",
  "<b>a</b> c",
  "<ul><li>1<li>2</ul>",
  "<tr><td>1",
  "<!--c-->",
  "</div>",
  "<option>o",
];

const positions = ["beforebegin", "afterbegin", "beforeend", "afterend"] as const;

function editWith(html: string): Place[] {
  return [
    (document, matches) => replaceElements(document, matches, html, () => {}),
    removeElements,
    ...positions.map(
      (position): Place =>
        (document, matches) =>
          insertMarkup(document, matches, html, position),
    ),
    (document, matches) => fillElements(document, matches, () => html),
    (document, matches, maxLength) =>
      attributeChanges(document, matches, { name: "class", valueFor: () => html, maxLength }),
  ];
}

function randomOf<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** What came of an edit: the source and what is known of the edited elements, or why it was refused. */
async function outcome(document: SourceDocument, index: number, edit: Place, takeTree: () => boolean) {
  const element = elementsOf(document)[index] as SourceElement;
  try {
    const applied = await done(applyEdit(document, [element], edit, limits, takeTree));
    const places = applied.elements.map(({ name, startIndex, endIndex }) => [name, startIndex, endIndex]);
    return { document: applied.document, told: [applied.document.source, applied.isNormalised, places] };
  } catch (error) {
    return { document, told: String(error) };
  }
}

describe("joinPart", () => {
  it("leaves what a full parse leaves, and as much is refused: chains of edits of real pages, with and without readers", {
    timeout: 600_000,
  }, async () => {
    const random = seededRandom(61);
    let taken = 0;
    let pages = 0;
    const isTimeFor = timeForMore(4);
    for (const { bytes } of sample(realPages(), 8)) {
      if (!isTimeFor(pages)) break;
      pages += 1;
      let document = await parseHtml(bytes);
      for (let count = 0; count < timesOf(4, 30); count += 1) {
        const index = Math.floor(random() * elementsOf(document).length);
        const edit = randomOf(editWith(randomOf(pieces, random)), random);
        const expected = await outcome(await parseHtml(document.source), index, edit, () => false);
        const before = shapeOf(document);
        const isRead = random() < 0.2;
        let wasTaken = false;
        const found = await outcome(document, index, edit, () => {
          wasTaken = !isRead;
          return wasTaken;
        });
        expect(found.told).toEqual(expected.told);
        expect(shapeOf(found.document)).toBe(shapeOf(expected.document));
        if (!wasTaken)
          expect(shapeOf(document)).toBe(before); // somebody reads it, or the proof has failed
        else taken += 1;
        document = found.document;
      }
    }
    expect(taken).toBeGreaterThan(2 * pages);
  });

  const item = "<li>some words and more of them</li>";
  const list = (count: number): string => `<!doctype html><ul>${item.repeat(count)}</ul>`;

  /** Makes a text in place of the first item, in the tree of the document. */
  async function joined(document: SourceDocument, text: string): Promise<SourceDocument> {
    const start = document.source.indexOf("<li>") + 4;
    const end = document.source.indexOf("</li>");
    const source = document.source.slice(0, start) + text + document.source.slice(end);
    const part = await done(
      parseEditedPart(source, { start, end, shift: source.length - document.source.length }, document),
    );
    if (!part) throw new Error("not in part");
    return done(part.join());
  }

  it("takes the nodes over, and makes no others", async () => {
    const document = await parseHtml(list(1000));
    const items = (of: SourceDocument): SourceElement[] => elementsOf(of).filter(({ name }) => name === "li");
    const before = new Set(items(document));
    const after = items(await joined(document, "other"));
    expect(after).toHaveLength(1000);
    expect(after.filter((each) => !before.has(each)).length).toBeLessThan(200); // up to the next saved state
  });

  it("knows which of two elements is open where an edit has made two of one", async () => {
    let document = await parseHtml(`<!doctype html><ul><li>${"<p>word</p>".repeat(500)}</ul>`);
    const inMiddle = document.source.indexOf("<p>", document.source.length / 2);
    for (const [text, start] of [["<li>", inMiddle] as const, ["<br>", inMiddle - 4] as const]) {
      const source = document.source.slice(0, start) + text + document.source.slice(start);
      const part = await done(parseEditedPart(source, { start, end: start, shift: text.length }, document));
      if (!part) throw new Error("not in part");
      document = await done(part.join());
      expect(shapeOf(document)).toBe(shapeOf(await parseHtml(source)));
    }
  });

  it("holds nobody up in a list of 50,000 items", async () => {
    const document = await parseHtml(list(50_000));
    const clock = stepClock(0.5);
    const turns = await turnsUntil(joined(document, "other"));
    expect(turns).toBeGreaterThan(2);
    expect(clock.looks).toBeLessThan(250); // 100,000 nodes
  });

  it("does not keep former sources for ever, and counts them as long as it does", async () => {
    let document = await parseHtml(list(1000));
    const least = document.memoryBytes;
    let most = 0;
    for (let count = 0; count < 100; count += 1) {
      document = await joined(document, `number ${count} of a hundred`);
      most = Math.max(most, document.memoryBytes);
      expect(document.parse?.olderBytes).toBeLessThanOrEqual(document.parse?.treeBytes ?? 0);
    }
    expect(most).toBeGreaterThan(least * 1.5);
    expect(most).toBeLessThan(least * 2.5);
    expect(shapeOf(document)).toBe(shapeOf(await parseHtml(document.source)));
  });
});
