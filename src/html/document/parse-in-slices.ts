import type { TimeSlice } from "../../event-loop/sliced-work.ts";
import type { TreeBuilder } from "../tree-construction/tree-builder.ts";

/** Steps of work that are done without a look at the clock: less than a millisecond of a real page. */
const stepsAtOnce = 32 * 1024;
/** The same of nodes: 5,000 characters of `<p><font size=1><p><font size=2>...` make 130,000 of them. */
const nodesAtOnce = 512;

/** Builds a tree, and gives way to everyone else every few milliseconds. It stops between two tokens, and goes on there. */
export async function parseInSlices(
  builder: TreeBuilder,
  slice: TimeSlice,
  steps: number = stepsAtOnce,
): Promise<void> {
  const { tokenizer, budget } = builder;
  while (!tokenizer.isDone) {
    const mostSteps = budget.steps + steps;
    const mostNodes = budget.nodes + nodesAtOnce;
    while (budget.steps < mostSteps && budget.nodes < mostNodes && !tokenizer.isDone) {
      const from = tokenizer.position;
      tokenizer.advance();
      budget.addCharacters(tokenizer.position - from);
    }
    if (slice.isOver) await slice.renew();
  }
}
