import type { ParserState } from "../tree-construction/parser-state.ts";
import {
  contentParent,
  type RootNode,
  SourceElement,
  TemplateElement,
  type TreeChild,
  type TreeParent,
} from "./html-nodes.ts";

/** Where a tree is cut: of the children of these, some stay as they are, and are not looked at. */
interface Seam {
  /** The first child that is looked at, or that is not looked at any more; `null` without such a child. */
  readonly at: TreeChild | null;
  /** Whose children they are, in the old tree. */
  readonly owner: TreeParent;
}

/** What of a tree is to be compared: of each parent here the children from one seam on, up to the other one. */
export interface Seams {
  readonly begin: ReadonlyMap<TreeParent, Seam>;
  readonly end: ReadonlyMap<TreeParent, Seam>;
}

/** The elements of a tree that are next to a part of it, and where in the new source all begin that are behind. */
export interface Neighbours {
  readonly before: SourceElement | undefined;
  readonly behind: SourceElement | undefined;
  readonly position: number;
}

/** An element of the old tree that was open where a part begins or ends, and the one that stands for it in the part. */
export interface StandIn {
  readonly original: SourceElement;
  readonly element: SourceElement;
}

export interface CutTree {
  readonly oldRoot: RootNode;
  readonly newRoot: RootNode;
  readonly first: ParserState | undefined;
  readonly end: ParserState | undefined;
  /** Open at the beginning and at the end, the outermost first. */
  readonly standIns: readonly StandIn[];
  readonly openAtEnd: readonly StandIn[];
}

/** A parent that is cut, and what stands for it in the part. */
interface Level {
  readonly owner: TreeParent;
  readonly standIn: TreeParent;
  /** The last of its children that begins before the cut: one that is cut itself, but for the innermost parent. */
  readonly last: TreeChild | null;
  readonly isInnermost: boolean;
}

/** The parents that are cut where a part begins, the outermost first. */
export function levelsAtStart({ standIns, first, ...cut }: CutTree): Level[] {
  return levelsOf(cut, standIns, first);
}

/** The levels that are cut where it ends; empty where it ends with the page. */
export function levelsAtEnd({ openAtEnd, end, ...cut }: CutTree): Level[] {
  return end ? levelsOf(cut, openAtEnd, end) : [];
}

function levelsOf(
  { oldRoot, newRoot }: Pick<CutTree, "oldRoot" | "newRoot">,
  open: readonly StandIn[],
  state: ParserState | undefined,
): Level[] {
  const parents = open.map(({ original, element }) => [contentParent(original), contentParent(element)] as const);
  return [[oldRoot, newRoot] as const, ...parents].map(([owner, standIn], level) => ({
    owner,
    standIn,
    last: open[level]?.original ?? state?.last ?? null,
    isInnermost: level === open.length,
  }));
}

/** Where the old tree and the new part are cut. */
export function seamsOf(cut: CutTree): { readonly before: Seams; readonly after: Seams } {
  const before = { begin: new Map<TreeParent, Seam>(), end: new Map<TreeParent, Seam>() };
  const after = { begin: new Map<TreeParent, Seam>(), end: new Map<TreeParent, Seam>() };
  for (const { owner, standIn, last, isInnermost } of levelsAtStart(cut)) {
    const at = isInnermost ? nextIn(owner, last) : last;
    if (at === firstIn(owner)) continue; // nothing stands before it
    before.begin.set(owner, { at, owner });
    after.begin.set(standIn, { at: firstIn(standIn), owner });
  }
  for (const { owner, standIn, last } of levelsAtEnd(cut)) {
    const at = nextIn(owner, last);
    if (!at) continue;
    before.end.set(owner, { at, owner });
    after.end.set(standIn, { at: null, owner });
  }
  return { before, after };
}

/** The elements next to a part, in document order; `undefined` in a template, whose content is not the page's. */
export function neighboursOf({ first, end }: Pick<CutTree, "first" | "end">, shift: number): Neighbours | undefined {
  const around = [...(first?.open ?? []), ...(end?.open ?? [])];
  if (around.some(({ element }) => element instanceof TemplateElement)) return undefined;
  const before = lastElementUpTo(first?.last ?? null) ?? first?.open.at(-1)?.element;
  let behind: SourceElement | undefined;
  let last = end?.last ?? null;
  for (const { element } of end?.open.toReversed() ?? []) {
    behind ??= firstElementFrom(nextIn(element, last));
    last = element;
  }
  return { before, behind, position: end ? end.position + shift : Number.POSITIVE_INFINITY };
}

/** The last element, in document order, of a node and the siblings before it. */
function lastElementUpTo(node: TreeChild | null): SourceElement | undefined {
  let found: SourceElement | undefined;
  for (let each = node; each; ) {
    if (each instanceof SourceElement) {
      found = each;
      each = each.children.at(-1) ?? null;
    } else each = each.prev;
  }
  return found;
}

function firstElementFrom(node: TreeChild | null): SourceElement | undefined {
  let each = node;
  while (each && !(each instanceof SourceElement)) each = each.next;
  return each ?? undefined;
}

export function firstIn(parent: TreeParent): TreeChild | null {
  return parent.children[0] ?? null;
}

/** The child of a parent behind another one; the first, where that is `null`. */
export function nextIn(parent: TreeParent, previous: TreeChild | null): TreeChild | null {
  return previous ? previous.next : firstIn(parent);
}
