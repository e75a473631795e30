import { html } from "parse5";
import { TimeSlice } from "../../event-loop/time-slice.ts";
import { settleSpans } from "./element-span.ts";
import type { RootNode, SourceElement, TreeChild, TreeNode } from "./html-nodes.ts";
import { HtmlTreeAdapter } from "./html-tree.ts";
import { endOfPage } from "./page-end.ts";
import { ParseBudget, type ParseLimits } from "./parse-budget.ts";
import { parseInSlices } from "./parse-in-slices.ts";
import { parseInTurn } from "./parse-queue.ts";
import type { ParsedTree } from "./source-document.ts";

/** The tree that the HTML Standard makes of a source. Throws `DOCUMENT_TOO_DEEP` or `DOCUMENT_TOO_COSTLY`. */
export function parseHtmlTree(source: string, limits: ParseLimits = {}): Promise<ParsedTree> {
  return parseInTurn(source.length, () => parseTree(source, new ParseBudget(limits)), limits.client);
}

async function parseTree(source: string, budget: ParseBudget): Promise<ParsedTree> {
  const tree = new HtmlTreeAdapter(source, budget);
  const slice = new TimeSlice();
  const root = await buildHtmlTree(source, tree, budget);
  await settleSpans(tree, endOfPage({ root, source }), slice);
  return { root, treeBytes: budget.treeBytes };
}

/** Has `tree` filled with what stands in a source; elements keep all offsets, whatever error recovery did to them. */
export async function buildHtmlTree(source: string, tree: HtmlTreeAdapter, budget: ParseBudget): Promise<RootNode> {
  const root = await parseInSlices(source, tree, budget);
  await tree.texts.settle(new TimeSlice());
  return root;
}

/** Whether an element is one of HTML, not of SVG or MathML. */
export function isHtmlElement({ namespace }: SourceElement): boolean {
  return namespace === html.NS.HTML;
}

/** The next node in document order that lies below `root`; descends into elements, not into template contents. */
export function nextNode(node: TreeNode, root: TreeNode): TreeChild | null {
  const firstChild = "children" in node ? node.children[0] : undefined;
  if (firstChild) return firstChild;
  let current = node;
  while (current !== root) {
    if (current.next) return current.next;
    if (!current.parent) return null;
    current = current.parent;
  }
  return null;
}
