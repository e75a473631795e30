import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { modesAfterBody } from "../tree-construction/after-body.ts";
import { modesBeforeBody } from "../tree-construction/before-body.ts";
import { foreignContent } from "../tree-construction/foreign-content.ts";
import { modesInBody } from "../tree-construction/in-body.ts";
import { modesInTable } from "../tree-construction/in-table.ts";
import { bytesOfStates, noteState } from "../tree-construction/saved-states.ts";
import { type InsertionModes, TreeBuilder } from "../tree-construction/tree-builder.ts";
import { elementsFormattedFromBefore, endOfPage, settleSpans } from "./element-span.ts";
import { ParseBudget, type ParseLimits } from "./parse-budget.ts";
import type { ParsedTree } from "./source-document.ts";

/** The tree that the HTML Standard makes of a source. Throws `DOCUMENT_TOO_DEEP` or `DOCUMENT_TOO_COSTLY`. */
export function* parseHtmlTree(source: string, limits: ParseLimits = {}): SlicedWork<ParsedTree> {
  const builder = treeBuilder(source, new ParseBudget(limits));
  yield* buildHtmlTree(builder);
  const { root, budget, copies, states } = builder;
  yield* settleSpans(builder, endOfPage({ root, source }));
  const formattedFromBefore = yield* elementsFormattedFromBefore(copies);
  const { treeBytes, steps } = budget;
  const parse = { states, copies, treeBytes, steps, olderBytes: 0 };
  return { root, treeBytes: treeBytes + bytesOfStates(states), formattedFromBefore, parse };
}

export function treeBuilder(source: string, budget: ParseBudget): TreeBuilder {
  return new TreeBuilder(source, insertionModes, foreignContent, budget);
}

/** Builds a tree while others have their turn; elements keep all offsets, whatever error recovery did to them. */
export function* buildHtmlTree(builder: TreeBuilder): SlicedWork<void> {
  yield* parseInSlices(builder);
  yield* builder.texts.settle();
}

/** Steps of work that are done without a look at the clock: less than a millisecond of a real page. */
const stepsAtOnce = 32 * 1024;
/** Nodes made without a look at the clock: 5,000 characters of `<p><font size=1><p>...` make 130,000. */
const nodesAtOnce = 512;

/** Builds a tree, and gives way every few milliseconds. It stops between two tokens, and goes on there. */
export function* parseInSlices(builder: TreeBuilder, isEnough?: () => boolean): SlicedWork<void> {
  const { tokenizer, budget } = builder;
  while (!tokenizer.isDone) {
    const mostSteps = budget.steps + stepsAtOnce;
    const mostNodes = budget.nodes + nodesAtOnce;
    while (budget.steps < mostSteps && budget.nodes < mostNodes && !tokenizer.isDone) {
      const from = tokenizer.position;
      tokenizer.advance();
      budget.addCharacters(tokenizer.position - from);
      noteState(builder);
      if (isEnough?.()) return;
    }
    yield;
  }
}

const insertionModes: InsertionModes = { ...modesBeforeBody, ...modesInBody, ...modesInTable, ...modesAfterBody };
