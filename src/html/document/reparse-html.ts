import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { HtmlParse, ParserState } from "../tree-construction/parser-state.ts";
import { isSameState, resume } from "../tree-construction/saved-states.ts";
import type { TreeBuilder } from "../tree-construction/tree-builder.ts";
import { freeRoom } from "../tree-construction/tree-writer.ts";
import { endOfPage, hasLostSpan, settleSpans } from "./element-span.ts";
import { parseInSlices, treeBuilder } from "./html-document.ts";
import {
  appendChild,
  contentParent,
  type RootNode,
  type SourceElement,
  TextNode,
  type TreeChild,
  type TreeParent,
} from "./html-nodes.ts";
import { ParseBudget, type ParseLimits } from "./parse-budget.ts";
import {
  type CutTree,
  firstIn,
  type Neighbours,
  neighboursOf,
  nextIn,
  type Seams,
  type StandIn,
  seamsOf,
} from "./seams.ts";

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

/** What an edit has changed of a page. The old tree is as it was; `join-part.ts` makes one tree of both. */
export interface ReparsedPart extends CutTree {
  readonly old: ParsedHtml;
  readonly source: string;
  readonly shift: number;
  /** Holds a stand-in for each element that was open at the beginning, and in them what was parsed. */
  readonly builder: TreeBuilder;
  /** The old nodes that others stand for: stand-ins, a `head`, a `form` and formatting elements that were closed. */
  readonly originals: ReadonlyMap<unknown, TreeChild | TreeParent>;
  /** The elements next to it, in document order; `undefined` in a template. */
  readonly neighbours: Neighbours | undefined;
  /** Both sides of the cuts, for the proof. */
  readonly seams: { readonly before: Seams; readonly after: Seams };
}

/** Parses what an edit has changed, from the last saved state before it to the first old state reached behind it. */
export class Reparse {
  readonly #old: ParsedHtml;
  readonly #source: string;
  readonly #shift: number;
  readonly #builder: TreeBuilder;
  readonly #first: ParserState | undefined;
  /** Saved states of the old parse at which this one may end, the next one last. */
  readonly #ends: ParserState[];
  readonly #standIns: StandIn[] = [];
  readonly #twins = new Map<unknown, TreeChild | TreeParent>();

  constructor(old: ParsedHtml, source: string, { start, end, shift }: SourceChange, limits: ParseLimits) {
    const { states } = old.parse;
    this.#old = old;
    this.#source = source;
    this.#shift = shift;
    this.#builder = treeBuilder(source, new ParseBudget(limits));
    this.#builder.isPart = true;
    this.#first = states.findLast(({ position }) => position <= start);
    // Not at the end of the source, which may have cut off a tag that goes on in what is added there later.
    const isEnd = ({ position }: ParserState): boolean => position >= end && position + shift < source.length;
    this.#ends = states.filter(isEnd).reverse();
  }

  /**
   * `undefined` if the rest of the tree changes, or might: error recovery reaches out of the part, formatting is opened
   * again in it, an element around it has no place in the source.
   */
  *run(): SlicedWork<ReparsedPart | undefined> {
    const builder = this.#builder;
    if (this.#first) this.#begin(this.#first);
    let end: ParserState | undefined;
    yield* parseInSlices(builder, () => {
      end = this.#endHere();
      return end !== undefined || builder.hasReachedBack;
    });
    if (!this.#isSeparate(end)) return undefined;
    const openAtEnd = end ? this.#endOpen(end) : [];
    // An element that gets or loses its start tag ends elsewhere, too; what is behind the part was not looked at.
    const hasTag = ({ startIndex }: SourceElement): boolean => startIndex !== null;
    if (openAtEnd.some(({ original, element }) => hasTag(original) !== hasTag(element))) return undefined;
    if (this.#beginsWithinText()) return undefined;
    yield* builder.texts.settle();
    const { root } = builder;
    yield* settleSpans(builder, endOfPage({ root, source: this.#source }));
    if (this.#standIns.some(({ element }) => hasLostSpan(element))) return undefined;
    const cut = {
      oldRoot: this.#old.root,
      newRoot: root,
      first: this.#first,
      end,
      standIns: this.#standIns,
      openAtEnd,
    };
    return {
      ...cut,
      old: this.#old,
      source: this.#source,
      shift: this.#shift,
      builder,
      originals: new Map([...this.#twins].map(([original, twin]) => [twin, original as TreeChild | TreeParent])),
      neighbours: neighboursOf(cut, this.#shift),
      seams: seamsOf(cut),
    };
  }

  /** Goes on with the parse from a state, in elements that stand for the open ones. */
  #begin(state: ParserState): void {
    const { root } = this.#old;
    const builder = this.#builder;
    builder.root.mode = root.mode;
    builder.states.push(state);
    this.#twins.set(root, builder.root);
    let to: TreeParent = builder.root;
    for (const { element: original } of state.open) {
      const element = this.#standInFor(original);
      appendChild(to, element);
      if (element.startIndex !== null) builder.elements.push(element);
      this.#standIns.push({ original, element });
      to = contentParent(element);
    }
    for (const each of [state.head, state.form, ...state.formatting.map((entry) => entry?.element)]) {
      if (each && !this.#twins.has(each)) this.#standInFor(each);
    }
    resume(builder, state, this.#twins);
  }

  #standInFor(original: SourceElement): SourceElement {
    const element = original.twin();
    element.startIndex = original.startIndex;
    element.contentStart = original.contentStart;
    element.endIndex = original.startIndex === null ? null : original.contentStart - 1;
    this.#twins.set(original, element);
    this.#twins.set(contentParent(original), contentParent(element));
    return element;
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
    if (builder.root.mode !== root.mode || !isSameState(builder, state, this.#twins)) return false;
    // Text that follows would be one with text that is there now.
    const next = nextIn(contentParent(state.open.at(-1)?.element) ?? root, state.last);
    if (this.#lastHere() instanceof TextNode && next instanceof TextNode) return false;
    // Formatting that begins in what was changed cannot be said to go on behind it.
    const [from, to] = [this.#first?.position ?? 0, state.position];
    return [...parse.copies.values()].slice(state.copies).every((tagStart) => tagStart < from || tagStart >= to);
  }

  #lastHere(): TreeChild | null {
    const { lastChild, open } = this.#builder;
    return lastChild ?? (open.current === this.#standIns.at(-1)?.element ? (this.#first?.last ?? null) : null);
  }

  /** Whether the part is all that differs from the old tree. */
  #isSeparate(end: ParserState | undefined): boolean {
    const builder = this.#builder;
    const { root, parse } = this.#old;
    const first = this.#first;
    if (builder.hasReachedBack || builder.root.mode !== root.mode) return false;
    if (!first && !end) return false; // it is the whole page
    if (builder.copies.size > 0 || (first?.copies ?? 0) !== (end?.copies ?? parse.copies.size)) return false;
    return ![...(first?.open ?? []), ...(end?.open ?? [])].some(({ element }) => hasLostSpan(element));
  }

  /** Text that begins the part would be one with the text before it. */
  #beginsWithinText(): boolean {
    const innermost = contentParent(this.#standIns.at(-1)?.element);
    return this.#first?.last instanceof TextNode && innermost !== undefined && firstIn(innermost) instanceof TextNode;
  }

  /** Ends what is open where the parse ended as the old tree does; gives the pairs. */
  #endOpen({ open: then, position }: ParserState): StandIn[] {
    const { open, source } = this.#builder;
    return then.map(({ element: original }, index) => {
      const element = open.elementAt(index) as SourceElement;
      if (original.contentEnd >= position && original.endIndex !== null) {
        element.contentEnd = original.contentEnd + this.#shift;
        element.endIndex = original.endIndex + this.#shift;
      } else if (element.startIndex !== null) {
        element.contentEnd = source.length;
        element.endIndex = source.length - 1;
      }
      freeRoom(contentParent(element));
      return { original, element };
    });
  }
}
