import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { HtmlParse, ParserState } from "../tree-construction/parser-state.ts";
import { bytesOfStates, pairWith, replaceNodes } from "../tree-construction/saved-states.ts";
import { elementsFormattedFromBefore } from "./element-span.ts";
import { CommentNode, linkNodes, SourceElement, TextNode, type TreeChild, type TreeParent } from "./html-nodes.ts";
import type { ReparsedPart } from "./reparse-html.ts";
import { levelsAtEnd, levelsAtStart, nextIn } from "./seams.ts";
import type { ParsedTree } from "./source-document.ts";
import { contentOf } from "./tree-walk.ts";

/** Nodes that are changed without a look at the clock. */
const nodesAtOnce = 2048;

/** V8 copies shorter texts: they keep no source in memory. */
const leastSlice = 13;

/** Makes one tree of a part that was parsed again and the old tree, which must not be used afterwards. */
export function* joinPart(part: ReparsedPart, oldSourceBytes: number): SlicedWork<ParsedTree> {
  const join = new Join(part);
  yield* join.moveNodes();
  yield;
  const parse = join.parse(oldSourceBytes);
  const { root } = part.builder;
  if (parse.olderBytes > parse.treeBytes) yield* readInto(part.source, root.children, parse);
  const formattedFromBefore = yield* elementsFormattedFromBefore(parse.copies);
  const treeBytes = parse.treeBytes + bytesOfStates(parse.states) + parse.olderBytes;
  return { root, treeBytes, formattedFromBefore, parse };
}

class Join {
  readonly #part: ReparsedPart;
  /** What stands for nodes of the old tree that are in the new one no more. */
  readonly #successors = new Map<unknown, TreeChild | TreeParent>();
  /** What stood last in the innermost open element where the part ends. */
  #lastBeforeEnd: TreeChild | null = null;

  constructor(part: ReparsedPart) {
    const { old, builder, end, originals } = part;
    this.#part = part;
    if (end) pairWith(builder, end, this.#successors);
    for (const [old, now] of this.#successors) {
      const original = originals.get(now) ?? now;
      if (original === old) this.#successors.delete(old);
      else this.#successors.set(old, original as TreeChild | TreeParent);
    }
    this.#successors.set(old.root, builder.root);
  }

  *moveNodes(): SlicedWork<void> {
    const { standIns, shift, source } = this.#part;
    // What is left as it is behind the part, the innermost first.
    const rests = levelsAtEnd(this.#part).reverse();
    const nodesOf = rests.map(({ owner, last }) => {
      const next = nextIn(owner, last);
      return next ? owner.children.slice(owner.children.indexOf(next)) : [];
    });
    yield;
    yield* this.#joinBeginnings();
    for (const { original, element } of standIns) {
      original.contentEnd = element.contentEnd;
      original.endIndex = element.endIndex;
    }
    for (const [index, { owner }] of rests.entries()) {
      const nodes = nodesOf[index] ?? [];
      const to = this.#now(owner) as TreeParent;
      const last = to.children.at(-1) ?? null;
      if (index === 0) this.#lastBeforeEnd = last;
      linkNodes(last, nodes[0] ?? null);
      to.children = to.children.concat(nodes);
      yield;
      if (owner !== to) yield* adopt(nodes, to);
      if (shift !== 0) yield* forAll(nodes, (node) => moveBy(node, shift, source));
    }
  }

  /** Puts what was parsed into the elements that were open before, behind what they had there. */
  *#joinBeginnings(): SlicedWork<void> {
    for (const { owner, standIn, last, isInnermost } of levelsAtStart(this.#part)) {
      const kept = last ? owner.children.slice(0, owner.children.indexOf(last) + 1) : [];
      const added = isInnermost ? standIn.children : standIn.children.slice(1);
      yield;
      const to = this.#inPart(owner) as TreeParent;
      if (to !== owner) yield* adopt(kept, to);
      if (to !== standIn) yield* adopt(added, to);
      linkNodes(kept.at(-1) ?? null, added[0] ?? null);
      to.children = kept.concat(added);
    }
  }

  /** What is known of the parse now, as if all had been parsed at once. */
  parse(oldSourceBytes: number): HtmlParse {
    const { old, builder, end, shift } = this.#part;
    const { budget } = builder;
    const { copies, treeBytes, steps, olderBytes } = old.parse;
    const copiesNow = [...copies].map(
      ([copy, tagStart]) => [copy, end && tagStart >= end.position ? tagStart + shift : tagStart] as const,
    );
    const restCost = end ? ([treeBytes - end.treeBytes, steps - end.steps] as const) : undefined;
    const states = this.#states(); // moves the end, too
    if (restCost) budget.takeOver(...restCost);
    return {
      states,
      copies: new Map(copiesNow),
      treeBytes: budget.treeBytes,
      steps: budget.steps,
      olderBytes: olderBytes + oldSourceBytes,
    };
  }

  /** All states of both parses, those of the old one as they are now. */
  #states(): ParserState[] {
    const { old, builder, first, end, shift, standIns, openAtEnd } = this.#part;
    const { budget } = builder;
    const before = old.parse.states.filter(({ position }) => first && position <= first.position);
    const parsed = builder.states.filter((state) => state !== first);
    const innermost = standIns.at(-1)?.element;
    for (const state of parsed) {
      const isEmpty = state.last === null && state.open.at(-1)?.element === innermost;
      if (isEmpty) state.last = first?.last ?? null;
      state.copies = first?.copies ?? 0;
    }
    replaceNodes(parsed, (node) => this.#inPart(node));
    if (!end) return [...before, ...parsed];
    const position = parsed.at(-1)?.position ?? first?.position;
    const behind = old.parse.states
      .filter((state) => state.position >= end.position && state.position + shift !== position)
      .map((state) => (state === first ? { ...state } : state)); // what was inserted begins and ends in one state
    const { last: lastAtEnd } = end;
    const innermostAtEnd = openAtEnd.at(-1)?.original;
    const isAtEnd = behind.filter(({ last, open }) => last === lastAtEnd && open.at(-1)?.element === innermostAtEnd);
    const more = { treeBytes: budget.treeBytes - end.treeBytes, steps: budget.steps - end.steps };
    for (const state of behind) {
      state.position += shift;
      state.treeBytes += more.treeBytes;
      state.steps += more.steps;
    }
    if (this.#successors.size > 1) replaceNodes(behind, (node) => this.#now(node));
    for (const state of isAtEnd) state.last = this.#lastBeforeEnd;
    return [...before, ...parsed, ...behind];
  }

  /** What a node of the old tree that is open behind the part is now: another one, where the part has ended it. */
  #now(node: unknown): unknown {
    return this.#successors.get(node) ?? node;
  }

  /** What a node known in the part or before it is now: an element that the part has ended is still itself there. */
  #inPart(node: unknown): unknown {
    const { old, builder, originals } = this.#part;
    return node === old.root || node === builder.root ? builder.root : (originals.get(node) ?? node);
  }
}

function* adopt(nodes: readonly TreeChild[], parent: TreeParent): SlicedWork<void> {
  for (let index = 0; index < nodes.length; index += 1) {
    (nodes[index] as TreeChild).parent = parent;
    if (index % nodesAtOnce === nodesAtOnce - 1) yield;
  }
}

/** A node stands further on, in another source. */
function moveBy(node: TreeChild, shift: number, source: string): void {
  if (node instanceof SourceElement) node.moveBy(shift, source);
  else {
    if (node.startIndex !== null) node.startIndex += shift;
    if (node.endIndex !== null) node.endIndex += shift;
  }
}

/** Has nodes take text and attributes from a source that reads the same: slices of older ones keep these alive. */
function* readInto(source: string, nodes: readonly TreeChild[], parse: { olderBytes: number }): SlicedWork<void> {
  yield* forAll(nodes, (node) => {
    if (node instanceof SourceElement) node.readAgainIn(source);
    else if (node instanceof TextNode) node.data = sliceLike(node.data, source, node.startIndex ?? 0);
    else if (node instanceof CommentNode) node.data = sliceLike(node.data, source, (node.startIndex ?? 0) + 4);
  });
  parse.olderBytes = 0;
}

function sliceLike(text: string, source: string, start: number): string {
  if (text.length < leastSlice) return text;
  const slice = source.slice(start, start + text.length);
  return slice === text ? slice : text;
}

/** Does something to nodes and all that they contain, while others have their turn. */
function* forAll(nodes: readonly TreeChild[], task: (node: TreeChild) => void): SlicedWork<void> {
  const waiting = [nodes];
  let count = 0;
  for (let list = waiting.pop(); list; list = waiting.pop()) {
    for (const node of list) {
      task(node);
      const content = contentOf(node);
      if (content.length > 0) waiting.push(content);
      count += 1;
      if (count % nodesAtOnce === 0) yield;
    }
  }
}
