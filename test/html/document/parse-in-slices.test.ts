import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TimeSlice } from "../../../src/event-loop/sliced-work.ts";
import { treeBuilder } from "../../../src/html/document/html-document.ts";
import { CommentNode, SourceElement, TextNode, type TreeChild } from "../../../src/html/document/html-nodes.ts";
import { ParseBudget } from "../../../src/html/document/parse-budget.ts";
import { parseInSlices } from "../../../src/html/document/parse-in-slices.ts";
import { serialise } from "../../../src/html/document/serialise.ts";
import { nodesOf, realPages } from "../../elements/pages.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";
import { checks, seededRandom } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

/** The tree with all positions, built in slices of so many tokens. */
async function shapeOf(source: string, tokens: number): Promise<unknown> {
  const builder = treeBuilder(source, new ParseBudget());
  const slice = { isOver: true, renew: async () => {} } as unknown as TimeSlice;
  await parseInSlices(builder, slice, tokens);
  await builder.texts.settle(slice);
  const { root, displaced } = builder;
  return {
    html: serialise({ source }, root),
    mode: root["x-mode"],
    displaced: displaced.map(({ offset }) => offset),
    nodes: nodesOf(root).map(shapeOfNode),
  };
}

function shapeOfNode(node: TreeChild): unknown[] {
  const place = [node.type, node.startIndex, node.endIndex];
  if (node instanceof SourceElement) {
    return [...place, node.name, node.namespace, { ...node.attribs }, node.contentStart, node.contentEnd];
  }
  return node instanceof TextNode || node instanceof CommentNode ? [...place, node.data] : place;
}

const whole = Number.MAX_SAFE_INTEGER;

/** What the boundary of a piece may fall into. */
const markup = fc
  .array(
    fc.constantFrom(
      ..."\r\n|\r|\n|\0|\u{1f600}|\ud83d|\ude00|é|&amp;|&ampx|&notin;|&#x1f600;|&#13;|&|&#|<!--|-->|--!>|<!-|<!doctype html>".split(
        "|",
      ),
      ..."<|>|</|/>|<p>|</p>|<b>|</b>|<a href='x'>|</a>|<table>|<tr><td>|</table>|<svg>|</svg>|<![CDATA[|]]>|<?x".split(
        "|",
      ),
      ..."<script>|</script>|<script><!--<script>|</scr|<title>|</title>|<textarea>\r\n|</textarea>|<pre>\n".split("|"),
      ..."<template>|</template>|<select>|<option>|<body a=b>|<frameset>|<plaintext>|<style>|<br/>| |x|some text".split(
        "|",
      ),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""));

describe("parseInSlices", () => {
  it("makes the same tree whatever the length of the pieces: random markup", async () => {
    await fc.assert(
      fc.asyncProperty(markup, fc.integer({ min: 1, max: 9 }), async (source, piece) => {
        expect(await shapeOf(source, piece)).toEqual(await shapeOf(source, whole));
      }),
      checks({ seed: 1, numRuns: 2000 }),
    );
  });

  it("makes the same tree whatever the length of the pieces: real pages", async () => {
    const random = seededRandom(7);
    for (const { name, bytes } of realPages()) {
      const source = bytes.toString();
      const piece = 1 + Math.floor(random() * 2000);
      expect(await shapeOf(source, piece), `${name} in pieces of ${piece}`).toEqual(await shapeOf(source, whole));
    }
  });

  it("makes the same tree of tokens that fill many pieces", async () => {
    const long = "x".repeat(200_000);
    for (const source of [
      `<!--${long}-->a`,
      `<a title="${long}">b</a>`,
      `<script>${long}</script>c`,
      `${long}<i>d</i>`,
    ]) {
      expect(await shapeOf(source, 4096)).toEqual(await shapeOf(source, whole));
    }
  });

  it("parses a token of many pieces in linear time: pieces grow, where those of one length would be 4,000", async () => {
    const clock = stepClock();
    await parseHtml(`<!--${"x".repeat(16_000_000)}`);
    expect(clock.looks).toBeLessThan(1000);
  });

  it.each([
    ["real markup", "<p class=a>some <b>words</b></p>\n".repeat(10_000)],
    ["one comment", `<!--${"x".repeat(8_000_000)}`],
    ["reopened formatting", Array.from({ length: 400 }, (_, i) => `<p><font size=${i}>`).join("")],
  ])("gives way to others whenever it looks at the clock and the slice is over: %s", async (_, source) => {
    stepClock(5);
    expect(await turnsUntil(Promise.resolve(parseHtml(Buffer.from(source))))).toBeGreaterThan(100);
  });

  it("parses a document of one piece in one go", async () => {
    let turns = 0;
    const count = setImmediate(() => {
      turns += 1;
    });
    await parseHtml("<p>small");
    expect(turns).toBe(0);
    clearImmediate(count);
  });
});
