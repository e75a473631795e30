import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { HtmlParse, ParserCounts, ParserState } from "../tree-construction/parser-state.ts";
import { bytesOfStates, moveState, pairWith, replaceNodes } from "../tree-construction/saved-states.ts";
import { contentParent } from "../tree-construction/tree-writer.ts";
import { type Displacement, elementsFormattedFromBefore } from "./element-span.ts";
import { CommentNode, SourceElement, TextNode, type TreeChild, type TreeParent } from "./html-nodes.ts";
import type { ReparsedPart } from "./reparse-html.ts";
import type { ParsedTree } from "./source-document.ts";
import { contentOf } from "./tree-walk.ts";

/** Nodes that are changed without a look at the clock. */
const nodesAtOnce = 2048;

/** V8 copies shorter texts: they keep no source in memory. */
const leastSlice = 13;

/** Makes one tree of a part that was parsed again and the old tree, which is none any more from then on. */
export function* joinPart(part: ReparsedPart, oldSourceBytes: number): SlicedWork<ParsedTree> {
  const join = new Join(part);
  yield* join.moveNodes();
  yield;
  const parse = join.parse(oldSourceBytes);
  const { root } = part.builder;
  if (parse.olderBytes > parse.treeBytes) yield* readInto(part.source, root.children, parse);
  const formattedFromBefore = yield* elementsFormattedFromBefore(parse);
  const treeBytes = parse.treeBytes + bytesOfStates(parse.states) + parse.olderBytes;
  return { root, treeBytes, formattedFromBefore, parse };
}

/** Children of an old parent that stay as they are, behind the part. */
interface Rest {
  readonly from: TreeParent;
  readonly to: TreeParent;
  readonly nodes: TreeChild[];
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
    const { standIns, openAtEnd, shift, source } = this.#part;
    const rests = this.#rests();
    yield;
    yield* this.#joinBeginnings();
    for (const { original, element } of standIns) {
      original.contentEnd = element.contentEnd;
      original.endIndex = element.endIndex;
    }
    for (const { from, to, nodes } of rests) {
      const last = to.children.at(-1) ?? null;
      if (to === this.#now(contentParent(openAtEnd.at(-1)?.original) ?? this.#part.old.root))
        this.#lastBeforeEnd = last;
      link(last, nodes[0] ?? null);
      to.children = to.children.concat(nodes);
      yield;
      if (from !== to) yield* adopt(nodes, to);
      if (shift !== 0) yield* moveAll(nodes, shift, source);
    }
  }

  /** What is left as it is behind the part, the innermost first. */
  #rests(): Rest[] {
    const { old, openAtEnd, end, seams } = this.#part;
    if (!end) return [];
    const owners = [old.root, ...openAtEnd.map(({ original }) => contentParent(original) ?? original)].reverse();
    return owners.map((from) => {
      const first = seams.before.end.get(from)?.at;
      return { from, to: this.#now(from), nodes: first ? from.children.slice(from.children.indexOf(first)) : [] };
    });
  }

  /** Puts what was parsed into the elements that were open before, behind what they had there. */
  *#joinBeginnings(): SlicedWork<void> {
    const { old, builder, standIns, first } = this.#part;
    let from: TreeParent = old.root;
    let parsed: TreeParent = builder.root;
    for (let level = 0; level <= standIns.length; level += 1) {
      const next = standIns[level];
      const last = next ? next.original : (first?.last ?? null);
      const kept = last ? from.children.slice(0, from.children.indexOf(last) + 1) : [];
      const added = next ? parsed.children.slice(1) : parsed.children;
      yield;
      const to = from === old.root ? builder.root : from;
      if (to !== from) yield* adopt(kept, to);
      if (to !== parsed) yield* adopt(added, to);
      link(kept.at(-1) ?? null, added[0] ?? null);
      to.children = kept.concat(added);
      if (!next) return;
      from = contentParent(next.original) ?? next.original;
      parsed = contentParent(next.element) ?? next.element;
    }
  }

  /** What is known of the parse now, as if all had been parsed at once. */
  parse(oldSourceBytes: number): HtmlParse {
    const { old, builder, first, end, shift, lost } = this.#part;
    const { parse } = old;
    const { budget } = builder;
    const begun = { displaced: first?.displaced ?? 0, copies: first?.copies ?? 0 };
    const atEnd = {
      displaced: begun.displaced + builder.displaced.length,
      copies: begun.copies,
      nodes: budget.nodes,
      treeBytes: budget.treeBytes,
      steps: budget.steps,
    };
    const displaced: Displacement[] = [];
    for (const { offset, parent } of [...parse.displaced.slice(0, begun.displaced), ...builder.displaced]) {
      displaced.push({ offset, parent: this.#inPart(parent) });
    }
    const copies = new Map([...parse.copies].slice(0, begun.copies));
    if (end) {
      for (const { offset, parent } of parse.displaced.slice(end.displaced)) {
        displaced.push({ offset: offset + shift, parent: this.#now(parent) });
      }
      for (const [copy, tagStart] of [...parse.copies].slice(end.copies)) {
        copies.set(copy, tagStart < end.position ? tagStart : tagStart + shift);
      }
      budget.takeOver({
        nodes: parse.nodes - end.nodes,
        treeBytes: parse.treeBytes - end.treeBytes,
        steps: parse.steps - end.steps,
      });
    }
    const { nodes, treeBytes, steps } = budget;
    const olderBytes = parse.olderBytes + oldSourceBytes;
    const allLost = this.#lost(lost);
    const states = this.#states(begun, atEnd);
    return { states, displaced, copies, lost: allLost, nodes, treeBytes, steps, olderBytes };
  }

  /** All states of both parses, those of the old one as they are now; nobody asks for the old ones after this. */
  #states(begun: Pick<ParserState, "displaced" | "copies">, atEnd: ParserCounts): ParserState[] {
    const { old, builder, first, end, shift, standIns } = this.#part;
    const innermost = standIns.at(-1)?.element;
    const before = old.parse.states.filter(({ position }) => first && position <= first.position);
    const parsed = builder.states.filter((state) => state !== first);
    for (const state of parsed) {
      const isEmpty = state.last === null && state.open.at(-1)?.element === innermost;
      if (isEmpty) state.last = first?.last ?? null;
      moveState(state, 0, { ...nothing, ...begun });
    }
    replaceNodes(parsed, (node) => this.#inPart(node as TreeParent));
    if (!end) return [...before, ...parsed];
    const position = parsed.at(-1)?.position ?? first?.position;
    const behind = old.parse.states
      .filter((state) => state.position >= end.position && state.position + shift !== position)
      .map((state) => (state === first ? { ...state } : state)); // what was inserted begins and ends in one state
    const more = differenceOf(atEnd, end);
    const { last: lastAtEnd, open: openAtEnd } = end;
    const isAtEnd = behind.filter(
      ({ last, open }) => last === lastAtEnd && open.at(-1)?.element === openAtEnd.at(-1)?.element,
    );
    for (const state of behind) moveState(state, shift, more);
    if (this.#successors.size > 1) replaceNodes(behind, (node) => this.#now(node as TreeParent));
    for (const state of isAtEnd) state.last = this.#lastBeforeEnd;
    return [...before, ...parsed, ...behind];
  }

  #lost(inPart: HtmlParse["lost"]): HtmlParse["lost"] {
    const { old, first, end, shift } = this.#part;
    const lost = new Map(inPart);
    for (const [element, [start, last]] of old.parse.lost) {
      if (start < (first?.position ?? 0)) lost.set(element, [start, last]);
      else if (end && start >= end.position) lost.set(element, [start + shift, last + shift]);
    }
    return lost;
  }

  /** What a node of the old tree that is open behind the part is now: another one, where the part has ended it. */
  #now(node: TreeParent): TreeParent {
    return (this.#successors.get(node) ?? node) as TreeParent;
  }

  /** What a node known in the part or before it is now: an element that the part has ended is still itself there. */
  #inPart(node: TreeParent): TreeParent {
    const { old, builder, originals } = this.#part;
    return node === old.root || node === builder.root ? builder.root : ((originals.get(node) ?? node) as TreeParent);
  }
}

const nothing: ParserCounts = { displaced: 0, copies: 0, nodes: 0, treeBytes: 0, steps: 0 };

function differenceOf(counts: ParserCounts, others: ParserCounts): ParserCounts {
  return {
    displaced: counts.displaced - others.displaced,
    copies: counts.copies - others.copies,
    nodes: counts.nodes - others.nodes,
    treeBytes: counts.treeBytes - others.treeBytes,
    steps: counts.steps - others.steps,
  };
}

function link(previous: TreeChild | null, next: TreeChild | null): void {
  if (previous) previous.next = next;
  if (next) next.prev = previous;
}

function* adopt(nodes: readonly TreeChild[], parent: TreeParent): SlicedWork<void> {
  for (let index = 0; index < nodes.length; index += 1) {
    (nodes[index] as TreeChild).parent = parent;
    if (index % nodesAtOnce === nodesAtOnce - 1) yield;
  }
}

/** Nodes and all that they contain stand further on, in another source. */
function* moveAll(nodes: readonly TreeChild[], shift: number, source: string): SlicedWork<void> {
  yield* forAll(nodes, (node) => {
    if (node instanceof SourceElement) {
      node.moveBy(shift, source);
      return;
    }
    if (node.startIndex !== null) node.startIndex += shift;
    if (node.endIndex !== null) node.endIndex += shift;
  });
}

/**
 * Makes nodes take their text and attributes from a source, where it reads the same: slices of older ones keep these in
 * memory.
 */
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
