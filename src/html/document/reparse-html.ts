import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { isSameState, type ParserState, pairWith, resume, stateOfTwins } from "../tree-construction/parser-state.ts";
import type { TreeBuilder } from "../tree-construction/tree-builder.ts";
import { contentParent } from "../tree-construction/tree-writer.ts";
import { TreeCopier } from "./copy-tree.ts";
import { finishedTree, type HtmlParse, parseInSlices, treeBuilder } from "./html-document.ts";
import { type RootNode, SourceElement, type TreeChild, type TreeParent } from "./html-nodes.ts";
import { ParseBudget, type ParseLimits, parseInTurn } from "./parse-budget.ts";
import type { ParsedTree } from "./source-document.ts";

/** A change of a source: the characters from `start` to `end` gave way to others, and all behind moved by `shift`. */
export interface SourceChange {
  readonly start: number;
  readonly end: number;
  readonly shift: number;
}

/** A tree, and how it was parsed. */
export interface ParsedHtml {
  readonly root: RootNode;
  readonly parse: HtmlParse;
}

/** Elements of the tree before an edit, and those of the new one that are the same, with all that they contain. */
export type TakenElements = ReadonlyMap<SourceElement, SourceElement>;

/** The tree of an edited source, and what of it is not new. */
interface EditedTree {
  readonly tree: ParsedTree;
  readonly taken: TakenElements;
}

/**
 * The tree of an edited source: that of a full parse, at the cost of what was edited. The parse goes on from the last state
 * before the change. Where it comes, behind the change, to a state that the old parse had there, the rest is the same, since
 * the rest of the source is; it is taken over.
 */
export function reparseHtmlTree(
  old: ParsedHtml,
  source: string,
  change: SourceChange,
  limits: ParseLimits,
): Promise<EditedTree> {
  return parseInTurn(source.length, () => new Reparse(old, source, change, limits).run(), limits.client);
}

/** Elements that are put into a list without a look at the clock. */
const elementsAtOnce = 4096;

class Reparse {
  readonly #old: ParsedHtml;
  readonly #shift: number;
  readonly #builder: TreeBuilder;
  readonly #copier: TreeCopier;
  readonly #first: ParserState | undefined;
  /** Saved states of the old parse at which this one may end, the next one last. */
  readonly #ends: ParserState[];
  readonly #taken = new Map<SourceElement, SourceElement>();

  constructor(old: ParsedHtml, source: string, { start, end, shift }: SourceChange, limits: ParseLimits) {
    const { states, lost } = old.parse;
    this.#old = old;
    this.#shift = shift;
    this.#builder = treeBuilder(source, new ParseBudget(limits));
    this.#copier = new TreeCopier(source, nodesAskedFor(old), lost);
    this.#first = states.findLast(({ position }) => position <= start);
    this.#ends = states.filter(({ position }) => position >= end).reverse();
  }

  async run(): Promise<EditedTree> {
    const builder = this.#builder;
    const slice = new TimeSlice();
    if (this.#first) await this.#takeOverBefore(this.#first, slice);
    let end: ParserState | undefined;
    await parseInSlices(builder, slice, undefined, () => {
      end = this.#endHere();
      return end !== undefined;
    });
    const before = this.#copier.elements.length;
    if (end) await this.#takeOverBehind(end, slice);
    await builder.texts.settle(slice);
    const { elements } = this.#copier;
    const parsed = builder.elements.splice(0);
    for (const part of [inOrder(elements.slice(0, before)), parsed, inOrder(elements.slice(before))]) {
      for (let index = 0; index < part.length; index += elementsAtOnce) {
        builder.elements.push(...part.slice(index, index + elementsAtOnce));
        if (slice.isOver) await slice.renew();
      }
    }
    return { tree: await finishedTree(builder, slice), taken: this.#taken };
  }

  /** What was built before a state: up to its last node, along the open elements. */
  async #takeOverBefore(state: ParserState, slice: TimeSlice): Promise<void> {
    const { root, parse } = this.#old;
    const builder = this.#builder;
    const { twins } = this.#copier;
    builder.root["x-mode"] = root["x-mode"];
    twins.set(root, builder.root);
    let from: TreeParent = root;
    let to: TreeParent = builder.root;
    for (const { element } of state.open) {
      for (let child = nextIn(from, null); child && child !== element; child = child.next) {
        builder.lists.append(to, this.#take(child, 0));
        if (slice.isOver) await slice.renew();
      }
      const open = this.#copier.copyOpen(element);
      builder.lists.open(open);
      builder.lists.append(to, open);
      twins.set(element, open);
      from = contentParent(element) ?? element;
      to = contentParent(open) ?? open;
      if (to === open) continue;
      builder.lists.open(to);
      twins.set(from, to);
    }
    for (let child: TreeChild | null = state.last && nextIn(from, null); child; child = child.next) {
      builder.lists.append(to, this.#take(child, 0));
      if (child === state.last) break;
      if (slice.isOver) await slice.renew();
    }
    await this.#copier.finish(slice);
    resume(builder, state, twins);
    for (const each of parse.displaced.slice(0, state.displaced)) builder.displaced.push(this.#twinOf(each));
    let count = 0;
    for (const [copy, tagStart] of parse.copies) {
      if (count >= state.copies) break;
      count += 1;
      builder.copies.set(twins.get(copy) as SourceElement, tagStart);
    }
    for (const each of parse.states) {
      if (each.position <= state.position) builder.states.push(stateOfTwins(each, twins, 0, {}));
    }
  }

  /** The state of the old parse that this one has come to. */
  #endHere(): ParserState | undefined {
    const { position } = this.#builder.tokenizer;
    const ends = this.#ends;
    for (let end = ends.at(-1); end && end.position + this.#shift <= position; end = ends.at(-1)) {
      ends.pop();
      if (end.position + this.#shift === position && this.#isSame(end)) return end;
    }
    return undefined;
  }

  #isSame(state: ParserState): boolean {
    const builder = this.#builder;
    const { root, parse } = this.#old;
    if (builder.root["x-mode"] !== root["x-mode"] || !isSameState(builder, state, this.#copier.twins)) return false;
    // Text that follows would be one with text that is there now.
    const last = builder.lists.last(contentParent(builder.open.current) ?? builder.root);
    const next = nextIn(contentParent(state.open.at(-1)?.element) ?? root, state.last);
    if (last?.type === "text" && next?.type === "text") return false;
    // Formatting that begins in what was changed cannot be said to go on behind it.
    const [from, to] = [this.#first?.position ?? 0, state.position];
    return [...parse.copies.values()].slice(state.copies).every((tagStart) => tagStart < from || tagStart >= to);
  }

  /** What was built behind a state; and the end of what is open. */
  async #takeOverBehind(state: ParserState, slice: TimeSlice): Promise<void> {
    const { root, parse } = this.#old;
    const builder = this.#builder;
    const { twins } = this.#copier;
    const shift = this.#shift;
    const start = { displaced: builder.displaced.length, copies: builder.copies.size, ...costs(builder.budget) };
    const innermost = state.open.at(-1)?.element;
    const lastHere = builder.lists.last(contentParent(builder.open.current) ?? builder.root);
    twins.set(root, builder.root);
    pairWith(builder, state, twins);
    // The innermost first: so their elements are found in the order of the source.
    let last = state.last;
    for (let index = state.open.length - 1; index >= -1; index -= 1) {
      const element = state.open[index]?.element;
      const from = contentParent(element) ?? root;
      const to = twins.get(from) as TreeParent;
      for (let child = nextIn(from, last); child; child = child.next) {
        builder.lists.append(to, this.#take(child, shift));
        if (slice.isOver) await slice.renew();
      }
      last = element ?? null;
      if (element) this.#endOpen(element, twins.get(element) as SourceElement, state.position);
    }
    builder.lists.close(builder.root);
    builder.lists.closeReopened();
    await this.#copier.finish(slice);
    for (const each of parse.displaced.slice(state.displaced)) {
      builder.displaced.push(this.#twinOf({ ...each, offset: each.offset + shift }));
    }
    for (const [copy, tagStart] of [...parse.copies].slice(state.copies)) {
      builder.copies.set(twins.get(copy) as SourceElement, tagStart < state.position ? tagStart : tagStart + shift);
    }
    for (const each of parse.states) {
      if (each.position < state.position || each.position + shift === builder.states.at(-1)?.position) continue;
      const isEmpty = each.last === state.last && each.open.at(-1)?.element === innermost;
      builder.states.push(
        stateOfTwins(each, twins, shift, {
          displaced: each.displaced - state.displaced + start.displaced,
          copies: each.copies - state.copies + start.copies,
          nodes: each.nodes - state.nodes + start.nodes,
          treeBytes: each.treeBytes - state.treeBytes + start.treeBytes,
          steps: each.steps - state.steps + start.steps,
          ...(isEmpty && { last: lastHere }),
        }),
      );
    }
    builder.budget.takeOver({
      nodes: parse.nodes - state.nodes,
      treeBytes: parse.treeBytes - state.treeBytes,
      steps: parse.steps - state.steps,
    });
  }

  /** An element that was open where the parse ended ends where the old one did. */
  #endOpen(old: SourceElement, element: SourceElement, position: number): void {
    const builder = this.#builder;
    builder.lists.close(element);
    const content = contentParent(element);
    if (content && content !== element) builder.lists.close(content);
    const end = this.#old.parse.lost.get(old)?.[1] ?? old.endIndex;
    if (old.contentEnd >= position && end !== null) {
      element.contentEnd = old.contentEnd + this.#shift;
      element.endIndex = end + this.#shift;
    } else if (element.startIndex !== null) {
      element.contentEnd = builder.source.length;
      element.endIndex = builder.source.length - 1;
    }
  }

  #take(node: TreeChild, shift: number): TreeChild {
    const copy = this.#copier.copy(node, shift);
    if (node instanceof SourceElement && copy instanceof SourceElement) this.#taken.set(node, copy);
    return copy;
  }

  #twinOf({ offset, parent }: { offset: number; parent: TreeParent }): { offset: number; parent: TreeParent } {
    return { offset, parent: this.#copier.twins.get(parent) as TreeParent };
  }
}

/** The nodes that a parse refers to. */
function nodesAskedFor({ parse }: ParsedHtml): ReadonlySet<unknown> {
  const nodes = new Set<unknown>();
  for (const { open, formatting, head, form, last } of parse.states) {
    for (const entry of open) nodes.add(entry.element);
    for (const entry of formatting) if (entry) nodes.add(entry.element);
    nodes.add(head).add(form).add(last);
  }
  for (const { parent } of parse.displaced) nodes.add(parent);
  for (const copy of parse.copies.keys()) nodes.add(copy);
  return nodes;
}

function costs({ nodes, treeBytes, steps }: ParseBudget): Pick<ParseBudget, "nodes" | "treeBytes" | "steps"> {
  return { nodes, treeBytes, steps };
}

/** The child of a parent behind another one; the first, where that is `null`. */
function nextIn(parent: TreeParent, previous: TreeChild | null): TreeChild | null {
  return previous ? previous.next : (parent.children[0] ?? null);
}

/** Elements in the order of the source, which is that of the tree but for what error recovery moved. */
function inOrder(elements: SourceElement[]): SourceElement[] {
  const isSorted = elements.every((element, index) => startOf(elements[index - 1]) <= startOf(element));
  return isSorted ? elements : elements.sort((a, b) => startOf(a) - startOf(b));
}

function startOf(element: SourceElement | undefined): number {
  return element?.startIndex ?? 0;
}
