import type { SourceElement, TreeChild, TreeParent } from "../document/html-nodes.ts";
import type { OpenElement } from "./open-elements.ts";
import type { ParserCounts, ParserState } from "./parser-state.ts";
import type { TreeBuilder } from "./tree-builder.ts";
import { contentParent } from "./tree-writer.ts";

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
  // A frameset takes the body away: what was built is no part of the tree.
  if (builder.mode.includes("frameset") || !builder.isBetweenTokens || !isCutAlongOpen(builder)) return;
  states.push(stateOf(builder));
}

/** What most states have none of. */
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
    open: open.entries(builder.states.at(-1)?.open),
    formatting: formatting.length > 0 ? formatting.entries() : none,
    last: builder.lists.last(contentParent(open.current) ?? builder.root),
    displaced: builder.displaced.length,
    copies: builder.copies.size,
    nodes: budget.nodes,
    treeBytes: budget.treeBytes,
    steps: budget.steps,
  };
}

/** Whether every open element is the last child of its parent: a `</form>` may have taken out one in the middle. */
function isCutAlongOpen({ open, lists, root }: TreeBuilder): boolean {
  let parent: TreeParent = root;
  for (let index = 0; index < open.length; index += 1) {
    const element = open.elementAt(index);
    if (!element || lists.last(parent) !== element || element.contentEnd !== -1) return false;
    parent = contentParent(element) ?? root;
  }
  return open.length > 0;
}

/** What stands for a node of an older tree in the new one. */
export type Twins = ReadonlyMap<unknown, TreeChild | TreeParent>;

/** Makes a parse go on from a state of an older one, with the twins of its elements. */
export function resume(builder: TreeBuilder, state: ParserState, twins: Twins): void {
  const { budget } = builder;
  builder.tokenizer.position = state.position;
  builder.resumedAt = state.position;
  builder.mode = state.mode;
  builder.templateModes.push(...state.templateModes);
  builder.framesetOk = state.framesetOk;
  builder.head = twins.get(state.head) as SourceElement | undefined;
  builder.form = twins.get(state.form) as SourceElement | undefined;
  builder.open.putBack(state.open.map((entry) => twinOf(entry, twins)));
  builder.formatting.load(state.formatting.map((entry) => entry && twinOf(entry, twins)));
  budget.nodes = state.nodes;
  budget.treeBytes = state.treeBytes;
  budget.steps = state.steps;
}

/** The state is further on in an edited source, and there is more or less before it. */
export function moveState(state: ParserState, shift: number, more: ParserCounts): void {
  state.position += shift;
  state.displaced += more.displaced;
  state.copies += more.copies;
  state.nodes += more.nodes;
  state.treeBytes += more.treeBytes;
  state.steps += more.steps;
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

function twinOf({ element, tag }: OpenElement, twins: Twins): OpenElement {
  return { element: twins.get(element) as SourceElement, tag };
}

/**
 * Whether a parse stands where an older one stood, so that the same source makes the same tree from here on. An element
 * that is open in both is the same to the parser if it has the same name and attributes; any other one has to be taken
 * over.
 */
export function isSameState(builder: TreeBuilder, state: ParserState, twins: Twins): boolean {
  const { open, formatting } = builder;
  if (!builder.isBetweenTokens || builder.mode !== state.mode || builder.framesetOk !== state.framesetOk) return false;
  if (builder.templateModes.join() !== state.templateModes.join()) return false;
  if (open.length !== state.open.length || formatting.length !== state.formatting.length) return false;
  if (!isCutAlongOpen(builder)) return false;
  const levels = new Map<unknown, number>();
  for (const [index, entry] of state.open.entries()) {
    const element = open.elementAt(index);
    const isSame = element && isSameTag(open.tagAt(index), entry.tag) && isAlike(element, entry.element, twins);
    if (!isSame || element.contentEnd !== -1) return false;
    levels.set(entry.element, index);
    levels.set(element, index);
  }
  // Of an element that is not open any more, the parser knows no more than that.
  const isSameLevel = (now: unknown, then: unknown): boolean => levels.get(now) === levels.get(then);
  for (const pointer of ["head", "form"] as const) {
    if ((builder[pointer] === undefined) !== (state[pointer] === undefined)) return false;
    if (!isSameLevel(builder[pointer], state[pointer])) return false;
  }
  return state.formatting.every((then, index) => {
    const now = formatting.at(index);
    if (!now || !then) return now === then;
    return (
      isSameTag(now.tag, then.tag) &&
      isSameLevel(now.element, then.element) &&
      isAlike(now.element, then.element, twins)
    );
  });
}

/** Says what stands for the nodes of a state, where a parse has come to the same. */
export function pairWith(builder: TreeBuilder, state: ParserState, twins: Map<unknown, TreeChild | TreeParent>): void {
  const pair = (then: SourceElement | undefined, now: SourceElement | undefined): void => {
    if (then && now) twins.set(then, now);
  };
  pair(state.head, builder.head);
  pair(state.form, builder.form);
  for (const [index, entry] of state.formatting.entries()) pair(entry?.element, builder.formatting.at(index)?.element);
  for (const [index, { element }] of state.open.entries()) {
    const now = builder.open.elementAt(index);
    pair(element, now);
    const [from, to] = [contentParent(element), contentParent(now)];
    if (from && to) twins.set(from, to);
  }
}

function isSameTag(a: OpenElement["tag"] | undefined, b: OpenElement["tag"]): boolean {
  return a !== undefined && a.id === b.id && a.name === b.name;
}

function isAlike(now: SourceElement, then: SourceElement, twins: Twins): boolean {
  if (twins.get(then) === now) return true;
  if (now.name !== then.name || now.namespace !== then.namespace) return false;
  const names = Object.keys(now.attribs);
  return (
    names.length === Object.keys(then.attribs).length && names.every((name) => now.attribs[name] === then.attribs[name])
  );
}
