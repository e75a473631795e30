import type { ParserState } from "../tree-construction/parser-state.ts";
import { contentParent } from "../tree-construction/tree-writer.ts";
import { type RootNode, SourceElement, TemplateElement, type TreeChild, type TreeParent } from "./html-nodes.ts";

/** Where a tree is cut: of the children of these, some stay as they are, and are not looked at. */
interface Seam {
  /** The first child that is looked at, or that is not looked at any more; `null` where there is none. */
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

/** A part of a tree between two states of its parse. */
interface CutTree {
  readonly oldRoot: RootNode;
  readonly newRoot: RootNode;
  readonly first: ParserState | undefined;
  readonly end: ParserState | undefined;
  /** Open at the beginning and at the end, the outermost first. */
  readonly standIns: readonly StandIn[];
  readonly openAtEnd: readonly StandIn[];
}

/** Where the old tree and the new part are cut. */
export function seamsOf(cut: CutTree): { readonly before: Seams; readonly after: Seams } {
  const { oldRoot, newRoot, end, openAtEnd } = cut;
  const before = { begin: new Map<TreeParent, Seam>(), end: new Map<TreeParent, Seam>() };
  const after = { begin: new Map<TreeParent, Seam>(), end: new Map<TreeParent, Seam>() };
  for (const [owner, standIn, at] of beginnings(cut)) {
    if (at === firstIn(owner)) continue; // nothing stands before it
    before.begin.set(owner, { at, owner });
    after.begin.set(standIn, { at: firstIn(standIn), owner });
  }
  if (!end) return { before, after };
  const parents = [undefined, ...openAtEnd];
  for (const [index, pair] of parents.entries()) {
    const owner = contentParent(pair?.original) ?? oldRoot;
    const at = nextIn(owner, parents[index + 1]?.original ?? end.last);
    if (!at) continue;
    before.end.set(owner, { at, owner });
    after.end.set(contentParent(pair?.element) ?? newRoot, { at: null, owner });
  }
  return { before, after };
}

/** Each parent that was open where the part begins, what stands for it, and its first child that is looked at. */
function* beginnings({
  oldRoot,
  newRoot,
  first,
  standIns,
}: CutTree): Generator<readonly [owner: TreeParent, standIn: TreeParent, at: TreeChild | null]> {
  if (!first) return;
  let owner: TreeParent = oldRoot;
  let standIn: TreeParent = newRoot;
  for (const { original, element } of standIns) {
    yield [owner, standIn, original];
    owner = contentParent(original) ?? original;
    standIn = contentParent(element) ?? element;
  }
  yield [owner, standIn, nextIn(owner, first.last)];
}

/** The elements next to a part, in document order; `undefined` in a template, whose content is none of the page's. */
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
