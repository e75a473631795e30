import type { Document, ParentNode } from "domhandler";
import { Parser } from "parse5";
import { settleSpans } from "./element-span.ts";
import { HtmlTreeAdapter, type HtmlTreeTypes, SourceElement } from "./html-tree.ts";
import { type Fragment, invalidHtml } from "./well-formed.ts";

const maxDepth = 512;

/**
 * Checks that a fragment keeps its elements when it is parsed as content of `parent`: a `tr` loses its tags in a `div`,
 * a `div` is moved out of a `tr`, and `<p><div></div></p>` is three elements. Throws 400 `INVALID_HTML`.
 */
export function requireFit({ html, tags }: Fragment, parent: ParentNode | null): void {
  const tree = new HtmlTreeAdapter(maxDepth, () => {
    throw invalidHtml(`it nests elements more than ${maxDepth} levels deep`, 1, 1);
  });
  parseInside(html, parent, tree);
  settleSpans(tree, html.length);
  const byStart = new Map(tree.elements.map((element) => [element.startIndex, element]));
  for (const { name, start, endTag, line, column } of tags) {
    const element = byStart.get(start);
    // In a fragment, parse5 lets `body` and `html` end with the text.
    const isPage = name === "body" || name === "html";
    if (element && (isPage || endTag === undefined || element.contentEnd === endTag)) continue;
    const place = parent instanceof SourceElement ? `<${parent.name}>` : "that place";
    throw invalidHtml(`<${name}> cannot stand there in ${place}; a browser would move, split or drop it`, line, column);
  }
}

function parseInside(html: string, parent: ParentNode | null, treeAdapter: HtmlTreeAdapter): Document {
  const options = { treeAdapter, sourceCodeLocationInfo: true };
  if (!(parent instanceof SourceElement)) return Parser.parse<HtmlTreeTypes>(html, options);
  const parser = Parser.getFragmentParser<HtmlTreeTypes>(parent, options);
  parser.tokenizer.write(html, true);
  return parser.getFragment();
}
