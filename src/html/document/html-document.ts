import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { foreignContent } from "../tree-construction/foreign-content.ts";
import { insertionModes } from "../tree-construction/insertion-modes.ts";
import { TreeBuilder } from "../tree-construction/tree-builder.ts";
import { settleSpans } from "./element-span.ts";
import type { SourceElement, TagObserver, TreeChild, TreeNode } from "./html-nodes.ts";
import { htmlNamespace } from "./namespaces.ts";
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
  const builder = treeBuilder(source, budget);
  const slice = new TimeSlice();
  await buildHtmlTree(builder, slice);
  const { root } = builder;
  await settleSpans(builder, endOfPage({ root, source }), slice);
  return { root, treeBytes: budget.treeBytes };
}

/** What builds the tree of a source; `observer` is told what becomes of each start tag. */
export function treeBuilder(source: string, budget: ParseBudget, observer?: TagObserver): TreeBuilder {
  return new TreeBuilder(source, insertionModes, foreignContent, budget, observer);
}

/** Builds a tree while others have their turn; elements keep all offsets, whatever error recovery did to them. */
export async function buildHtmlTree(builder: TreeBuilder, slice: TimeSlice): Promise<void> {
  await parseInSlices(builder, slice);
  await builder.texts.settle(slice);
}

/** Whether an element is one of HTML, not of SVG or MathML. */
export function isHtmlElement({ namespace }: SourceElement): boolean {
  return namespace === htmlNamespace;
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
