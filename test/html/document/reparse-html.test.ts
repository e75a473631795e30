import { describe, expect, it } from "vitest";
import { elementSpan } from "../../../src/html/document/element-span.ts";
import {
  CommentNode,
  DoctypeNode,
  SourceElement,
  TextNode,
  type TreeNode,
} from "../../../src/html/document/html-nodes.ts";
import { parseEdited, parseSource } from "../../../src/html/document/parse-document.ts";
import type { SourceDocument } from "../../../src/html/document/source-document.ts";
import { TreeWalk } from "../../../src/html/document/tree-walk.ts";
import { realPages } from "../../elements/pages.ts";
import { sample, seededRandom, timesOf } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { malformedPage } from "../malformed-page.ts";

/** All that is known of a document, a line for each node. */
function shapeOf(document: SourceDocument): string {
  let shape = document.root["x-mode"] ?? "";
  const walk = new TreeWalk(document.root);
  while (walk.advance()) shape += `\n${walk.isAtEnd ? "end" : JSON.stringify(shapeOfNode(walk.node, document))}`;
  return shape;
}

function shapeOfNode(node: TreeNode, document: SourceDocument): unknown {
  const place = [node.startIndex, node.endIndex, node.prev?.startIndex, node.next?.startIndex, node.parent?.startIndex];
  if (node instanceof SourceElement) {
    const isFormatted = document.formattedFromBefore.has(node);
    return [node.name, node.namespace, elementSpan(node), { ...node.attribs }, isFormatted, node.contentEnd, ...place];
  }
  if (node instanceof TextNode || node instanceof CommentNode) return [node.type, node.data, ...place];
  return node instanceof DoctypeNode ? ["doctype", node.data, ...place] : "root";
}

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

describe("reparseHtmlTree", () => {
  it("makes the tree of a full parse: random edits of malformed pages, one after the other", {
    timeout: 600_000,
  }, async () => {
    const random = seededRandom(51);
    let taken = 0;
    for (let page = 0; page < timesOf(10, 200); page += 1) {
      const filler = "<p>some <i>words</i> and <a href=x>more</a></p>\n".repeat(110);
      let document = await parseHtml(
        `<!doctype html>${malformedPage(random)}${filler}${malformedPage(random)}${filler}`,
      );
      for (let count = 0; count < 50; count += 1) {
        const change = edited(document.source, random);
        const { document: next, taken: same } = await parseEdited(change.source, change, document);
        expect(shapeOf(next)).toBe(shapeOf(await parseHtml(change.source)));
        taken += same.size;
        document = next;
      }
    }
    expect(taken).toBeGreaterThan(1000);
  });

  it("makes the tree of a full parse: edits of each real page, one after the other", {
    timeout: 600_000,
  }, async () => {
    const random = seededRandom(53);
    for (const { bytes } of sample(realPages(), 2)) {
      let document = await parseHtml(bytes);
      for (let count = 0; count < timesOf(100, 20); count += 1) {
        const change = edited(document.source, random);
        ({ document } = await parseEdited(change.source, change, document));
        if (count % 10 === 9) {
          const whole = await parseSource(change.source, document);
          expect(shapeOf(document)).toBe(shapeOf(whole));
        }
      }
    }
  });
});
