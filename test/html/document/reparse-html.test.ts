import { describe, expect, it } from "vitest";
import { parseEditedPart, parseSource } from "../../../src/html/document/parse-document.ts";
import type { SourceDocument } from "../../../src/html/document/source-document.ts";
import { realPages } from "../../elements/pages.ts";
import { campaignMsLeft, sample, seededRandom, timesOf } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { malformedPage } from "../malformed-page.ts";
import { shapeOf } from "../tree-shape.ts";

/** An edit at a random place: often between two tags, sometimes in the middle of one. */
function edited(source: string, random: () => number): { source: string; start: number; end: number; shift: number } {
  const marks = [...source.matchAll(/[<>]/g)].map(({ 0: mark, index }) => index + (mark === ">" ? 1 : 0));
  const at = (): number => {
    const mark = marks[Math.floor(random() * marks.length)];
    return mark !== undefined && random() < 0.9 ? mark : Math.floor(random() * (source.length + 1));
  };
  const start = at();
  const end = Math.min(source.length, random() < 0.5 ? start : Math.max(start, random() < 0.9 ? start + 40 : at()));
  const text = random() < 0.2 ? "" : malformedPage(random);
  return {
    source: source.slice(0, start) + text + source.slice(end),
    start,
    end,
    shift: text.length - (end - start),
  };
}

/** The edited document, and whether it was made of the old one. */
async function parseEdited(change: ReturnType<typeof edited>, document: SourceDocument) {
  const before = shapeOf(document);
  const part = await parseEditedPart(change.source, change, document);
  expect(shapeOf(document)).toBe(before); // nothing is taken that is not asked for
  return {
    document: part ? await part.join() : await parseSource(change.source, document),
    isJoined: part !== undefined,
  };
}

describe("reparsePart", () => {
  it("makes the tree of a full parse: random edits of malformed pages, one after the other", {
    timeout: 600_000,
  }, async () => {
    const random = seededRandom(51);
    let joined = 0;
    for (let page = 0; page < timesOf(6, 200) && campaignMsLeft() > 0; page += 1) {
      const filler = "<p>some <i>words</i> and <a href=x>more</a></p>\n".repeat(110);
      let document = await parseHtml(
        `<!doctype html>${malformedPage(random)}${filler}${malformedPage(random)}${filler}`,
      );
      for (let count = 0; count < 50; count += 1) {
        const change = edited(document.source, random);
        const next = await parseEdited(change, document);
        expect(shapeOf(next.document)).toBe(shapeOf(await parseHtml(change.source)));
        if (next.isJoined) joined += 1;
        document = next.document;
      }
    }
    expect(joined).toBeGreaterThan(20);
  });

  it("makes the tree of a full parse: edits of each real page, one after the other", {
    timeout: 600_000,
  }, async () => {
    const random = seededRandom(53);
    let [joined, all] = [0, 0];
    for (const { bytes } of sample(realPages(), 2)) {
      if (campaignMsLeft() === 0) break;
      let document = await parseHtml(bytes);
      for (let count = 0; count < timesOf(50, 20); count += 1) {
        const change = edited(document.source, random);
        const part = await parseEditedPart(change.source, change, document);
        document = part ? await part.join() : await parseSource(change.source, document);
        all += 1;
        if (part) joined += 1;
        if (count % 10 !== 9) continue;
        const whole = await parseSource(change.source, document);
        expect(shapeOf(document)).toBe(shapeOf(whole));
      }
    }
    expect(joined).toBeGreaterThanOrEqual(all / 10);
  });
});
