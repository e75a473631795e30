import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { TreeChild, TreeParent } from "../document/html-nodes.ts";

/**
 * The children of the nodes of a tree that is being built. Until a parent is closed, its children are linked to each
 * other, and its field `children` holds the last of them: adding, inserting and removing a node take the same time
 * whatever stands around it, and the array that is made in the end has just the room it needs. An array that grows has
 * room for 17 children, and most elements have fewer than three.
 */
export class ChildLists {
  readonly #onRevision: (node: TreeChild | TreeParent) => void;
  /** Parents that error recovery came back to after they were closed. */
  readonly #reopened = new Set<TreeParent>();
  /** Parents that are closed, but for the array, which takes long to make. */
  readonly #long = new Set<TreeParent>();

  /** `onRevision` is told of nodes that are not just added last: what was built since they began changes. */
  constructor(onRevision: (node: TreeChild | TreeParent) => void = () => {}) {
    this.#onRevision = onRevision;
  }

  /** Prepares a new parent. */
  open(parent: TreeParent): void {
    (parent as OpenParent).children = null;
  }

  last(parent: TreeParent): TreeChild | null {
    const { children } = parent as OpenParent;
    return Array.isArray(children) ? (children[children.length - 1] ?? null) : children;
  }

  append(parent: TreeParent, node: TreeChild): void {
    this.#reopen(parent);
    const last = (parent as OpenParent).children as TreeChild | null;
    node.parent = parent;
    node.prev = last;
    if (last) last.next = node;
    (parent as OpenParent).children = node;
  }

  insertBefore(reference: TreeChild, node: TreeChild): void {
    const { parent, prev } = reference;
    if (!parent) return;
    this.#onRevision(reference);
    this.#reopen(parent);
    node.parent = parent;
    node.prev = prev;
    node.next = reference;
    reference.prev = node;
    if (prev) prev.next = node;
  }

  detach(node: TreeChild): void {
    const { parent, prev, next } = node;
    if (!parent) return;
    this.#onRevision(node);
    this.#reopen(parent);
    if (prev) prev.next = next;
    if (next) next.prev = prev;
    else (parent as OpenParent).children = prev;
    node.parent = null;
    node.prev = null;
    node.next = null;
  }

  /** Moves all children of one parent to another one that has none. */
  moveAll(from: TreeParent, to: TreeParent): void {
    this.#onRevision(from);
    this.#reopen(from);
    this.#reopen(to);
    const last = (from as OpenParent).children as TreeChild | null;
    for (let node = last; node; node = node.prev) node.parent = to;
    (from as OpenParent).children = null;
    (to as OpenParent).children = last;
  }

  /** Makes the array of a parent's children; that of very many is made by {@link settle}. */
  close(parent: TreeParent): void {
    const { children: last } = parent as OpenParent;
    if (Array.isArray(last)) return;
    const list = last ? listUpTo(last) : [];
    if (list) parent.children = list;
    else this.#long.add(parent);
  }

  /** The tree is complete, but for what {@link settle} does. */
  closeReopened(): void {
    for (const parent of this.#reopened) this.close(parent);
    this.#reopened.clear();
  }

  /** Makes the arrays that take long, while others have their turn. */
  *settle(): SlicedWork<void> {
    for (const parent of this.#long) {
      const { children: last } = parent as OpenParent;
      if (last && !Array.isArray(last)) parent.children = yield* longListUpTo(last);
    }
    this.#long.clear();
  }

  #reopen(parent: TreeParent): void {
    const { children } = parent as OpenParent;
    const isArray = Array.isArray(children);
    const isClosed = isArray || (this.#long.size > 0 && this.#long.delete(parent));
    if (isClosed || (this.#reopened.size > 0 && this.#reopened.has(parent))) this.#onRevision(parent);
    if (!isClosed) return;
    if (isArray) (parent as OpenParent).children = children[children.length - 1] ?? null;
    this.#reopened.add(parent);
  }
}

/** A parent whose children are not an array yet. */
interface OpenParent {
  children: TreeChild[] | TreeChild | null;
}

/** Most children whose array is made at once, and of which as many are passed without a look at the clock. */
const nodesAtOnce = 4096;

/** The siblings up to the last; `undefined` where they are very many. */
function listUpTo(last: TreeChild): TreeChild[] | undefined {
  const second = last.prev;
  if (!second) return [last];
  const third = second.prev;
  if (!third) return [second, last];
  if (!third.prev) return [third, second, last];
  let first = third;
  for (let count = 3; first.prev; first = first.prev) if (++count > nodesAtOnce) return undefined;
  const list: TreeChild[] = [];
  for (let node: TreeChild | null = first; node; node = node.next) list.push(node);
  return list.slice(); // without the room that a growing array keeps
}

function* longListUpTo(last: TreeChild): SlicedWork<TreeChild[]> {
  let first = last;
  for (let count = 1; first.prev; first = first.prev) {
    if (++count % nodesAtOnce === 0) yield;
  }
  const list: TreeChild[] = [];
  for (let node: TreeChild | null = first; node; node = node.next) {
    if (list.push(node) % nodesAtOnce === 0) yield;
  }
  return list.slice();
}
