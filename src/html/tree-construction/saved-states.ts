import { contentParent, type SourceElement, type TreeChild, type TreeParent } from "../document/html-nodes.ts";
import { haveSameAttributes, type OpenElement } from "./open-elements.ts";
import type { ParserState } from "./parser-state.ts";
import type { TreeBuilder } from "./tree-builder.ts";

/** Least number of characters between two saved states; more in a large page, which has a thousand states at most. */
const leastDistance = 2048;
/** Least number where an edit was made: another one follows there sooner than elsewhere. */
const leastDistanceInPart = 512;
const mostStates = 1024;
/** A state that refers to more elements is not saved: deep pages would have states larger than their trees. */
const mostElements = 100;
/** Memory of a state and of each element that it refers to, measured with Node 20 on 258 real pages. */
const stateBytes = 250;
const entryBytes = 20;

/** Estimate of the memory that states take, in bytes. */
export function bytesOfStates(states: readonly ParserState[]): number {
  let entries = 0;
  for (const { open, formatting } of states) entries += open.length + formatting.length;
  return states.length * stateBytes + entries * entryBytes;
}

/** Saves the state of a parse if it is time, and the tree can be cut here: nothing open stands before a sibling. */
export function noteState(builder: TreeBuilder): void {
  const { source, states, tokenizer, budget } = builder;
  const distance = tokenizer.position - (states.at(-1)?.position ?? 0);
  const least = budget.stateDistance ?? (builder.isPart ? leastDistanceInPart : leastDistance);
  if (distance < least || distance < source.length / mostStates) return;
  // There, the end may have cut off a tag or a comment, which goes on in what is added.
  if (tokenizer.position === source.length) return;
  if (builder.open.length + builder.formatting.length > mostElements) return;
  // A frameset takes the body away: what was built is not part of the tree.
  if (builder.mode.includes("frameset") || !builder.isBetweenTokens || !isCutAlongOpen(builder)) return;
  states.push(stateOf(builder));
}

/** Shared by the many states that have an empty list. */
const none: readonly never[] = [];

function stateOf(builder: TreeBuilder): ParserState {
  const { budget, open, templateModes, formatting } = builder;
  return {
    position: builder.tokenizer.position,
    mode: builder.mode,
    templateModes: templateModes.length > 0 ? [...templateModes] : none,
    framesetOk: builder.framesetOk,
    head: builder.head,
    form: builder.form,
    open: open.entries(),
    formatting: formatting.length > 0 ? [...formatting] : none,
    last: builder.lastChild,
    copies: builder.copies.size,
    treeBytes: budget.treeBytes,
    steps: budget.steps,
  };
}

/** Whether every open element is the last child of its parent: a `</form>` may have taken out one in the middle. */
function isCutAlongOpen({ open, root }: TreeBuilder): boolean {
  let parent: TreeParent = root;
  for (let index = 0; index < open.length; index += 1) {
    const element = open.elementAt(index);
    if (!element || parent.children.at(-1) !== element || element.contentEnd !== -1) return false;
    parent = contentParent(element);
  }
  return open.length > 0;
}

/** What stands for a node of an older tree in the new one. */
export type Twins = ReadonlyMap<unknown, TreeChild | TreeParent>;

/** Makes a parse go on from a state of an older one, with the twins of its elements. */
export function resume(builder: TreeBuilder, state: ParserState, twins: Twins): void {
  const twinOf = ({ element, tag }: OpenElement): OpenElement => ({
    element: twins.get(element) as SourceElement,
    tag,
  });
  builder.tokenizer.position = state.position;
  builder.resumedAt = state.position;
  builder.mode = state.mode;
  builder.templateModes.push(...state.templateModes);
  builder.framesetOk = state.framesetOk;
  builder.head = twins.get(state.head) as SourceElement | undefined;
  builder.form = twins.get(state.form) as SourceElement | undefined;
  builder.open.putBack(state.open.map(twinOf));
  builder.formatting.push(...state.formatting.map((entry) => entry && twinOf(entry)));
  builder.budget.treeBytes = state.treeBytes;
  builder.budget.steps = state.steps;
}

/** States refer to other nodes: `now` says what stands for a node of the old tree. */
export function replaceNodes(states: readonly ParserState[], now: (node: unknown) => unknown): void {
  const replaced = ({ element, tag }: OpenElement): OpenElement => ({ element: now(element) as SourceElement, tag });
  let former: readonly OpenElement[] = [];
  let formerNow: readonly OpenElement[] = [];
  for (const state of states) {
    const { open } = state;
    state.open = open.map((entry, level) =>
      entry === former[level] ? (formerNow[level] as OpenElement) : replaced(entry),
    );
    [former, formerNow] = [open, state.open];
    state.head = now(state.head) as SourceElement | undefined;
    state.form = now(state.form) as SourceElement | undefined;
    if (state.formatting.length > 0) state.formatting = state.formatting.map((entry) => entry && replaced(entry));
    state.last = now(state.last) as TreeChild | null;
  }
}

/**
 * Whether a parse stands where an older one stood, so that the same source makes the same tree from here on. An element
 * that is open in both is the same to the parser if it has the same name and attributes; any other one has to be taken
 * over.
 */
export function isSameState(builder: TreeBuilder, state: ParserState, twins: Twins): boolean {
  const { formatting } = builder;
  const open = builder.open.entries();
  if (!builder.isBetweenTokens || builder.mode !== state.mode || builder.framesetOk !== state.framesetOk) return false;
  if (builder.templateModes.join() !== state.templateModes.join()) return false;
  if (open.length !== state.open.length || formatting.length !== state.formatting.length) return false;
  if (!isCutAlongOpen(builder)) return false;
  const levels = new Map<unknown, number>();
  for (const [index, then] of state.open.entries()) {
    const now = open[index] as OpenElement;
    if (!isAlike(now, then, twins)) return false;
    levels.set(then.element, index);
    levels.set(now.element, index);
  }
  // Of an element that is not open any more, the parser knows no more than that.
  const isSameLevel = (now: unknown, then: unknown): boolean => levels.get(now) === levels.get(then);
  for (const pointer of ["head", "form"] as const) {
    if ((builder[pointer] === undefined) !== (state[pointer] === undefined)) return false;
    if (!isSameLevel(builder[pointer], state[pointer])) return false;
  }
  return state.formatting.every((then, index) => {
    const now = formatting[index];
    if (!now || !then) return now === then;
    return isSameLevel(now.element, then.element) && isAlike(now, then, twins);
  });
}

function isAlike(now: OpenElement, then: OpenElement, twins: Twins): boolean {
  const [{ element }, { element: other }] = [now, then];
  if (now.tag.id !== then.tag.id || now.tag.name !== then.tag.name) return false;
  if (twins.get(other) === element) return true;
  return element.name === other.name && element.namespace === other.namespace && haveSameAttributes(element, other);
}

/** Says what stands for the nodes of a state, where a parse has come to the same. */
export function pairWith(builder: TreeBuilder, state: ParserState, twins: Map<unknown, TreeChild | TreeParent>): void {
  const pair = (then: SourceElement | undefined, now: SourceElement | undefined): void => {
    if (!then || !now) return;
    twins.set(then, now);
    twins.set(contentParent(then), contentParent(now));
  };
  pair(state.head, builder.head);
  pair(state.form, builder.form);
  for (const [index, entry] of state.formatting.entries()) pair(entry?.element, builder.formatting[index]?.element);
  for (const [index, { element }] of state.open.entries()) pair(element, builder.open.elementAt(index));
}
