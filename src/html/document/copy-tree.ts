import type { TimeSlice } from "../../event-loop/sliced-work.ts";
import {
  CommentNode,
  DoctypeNode,
  SourceElement,
  TemplateElement,
  TextNode,
  type TreeChild,
  type TreeParent,
} from "./html-nodes.ts";

/** Nodes that are copied without a look at the clock. */
const nodesAtOnce = 256;

/** Where an element stands in the source that has lost its span: `startIndex` and `endIndex`. */
export type LostSpans = ReadonlyMap<SourceElement, readonly [start: number, end: number]>;

/**
 * Copies parts of a tree for an edited source. The nodes of the old one stay as they are: others may be reading them, and a
 * node knows its parent, so that no two trees can share one.
 */
export class TreeCopier {
  /** The copy of each node that was asked about. */
  readonly twins: Map<unknown, TreeChild | TreeParent> = new Map();
  /** Copied elements that have a start tag. */
  readonly elements: SourceElement[] = [];
  /** Copies whose content is not copied yet, in the order of the source; open elements get none. */
  readonly #tops: [from: TreeChild | undefined, to: TreeChild, shift: number][] = [];
  /** Nodes copied since the last look at the clock. */
  #count = 0;
  readonly #source: string;
  readonly #asked: ReadonlySet<unknown>;
  readonly #lost: LostSpans;

  constructor(source: string, asked: ReadonlySet<unknown>, lost: LostSpans) {
    this.#source = source;
    this.#asked = asked;
    this.#lost = lost;
  }

  /** A copy of a node that stands `shift` characters further on; {@link finish} copies what is below it. */
  copy(node: TreeChild, shift: number): TreeChild {
    const copy = this.#copyOf(node, shift);
    this.#tops.push([node, copy, shift]);
    return copy;
  }

  /** A copy of an open element, without its content and its end. */
  copyOpen(element: SourceElement): SourceElement {
    const copy = this.#copyOf(element, 0) as SourceElement;
    copy.contentEnd = -1;
    copy.endIndex = copy.startIndex === null ? null : copy.contentStart - 1;
    this.#tops.push([undefined, copy, 0]);
    return copy;
  }

  /** Copies everything below the copies made by now, while others have their turn. */
  async finish(slice: TimeSlice): Promise<void> {
    const waiting: TreeChild[] = [];
    const originals: (TreeChild | undefined)[] = [];
    for (const [from, to, shift] of this.#tops.splice(0)) {
      waiting.push(to);
      originals.push(from);
      for (let copy = waiting.pop(); copy; copy = waiting.pop()) {
        const original = originals.pop();
        if (!(copy instanceof SourceElement)) continue;
        if (copy.startIndex !== null) this.elements.push(copy);
        if (!(original instanceof SourceElement)) continue;
        const { children } = parentOfContent(original);
        const copies = await this.#copyAll(children, parentOfContent(copy), shift, slice);
        for (let index = copies.length - 1; index >= 0; index -= 1) {
          const child = copies[index];
          if (!(child instanceof SourceElement)) continue;
          waiting.push(child);
          originals.push(children[index]);
        }
      }
    }
  }

  /** Copies nodes that become the children of a parent. */
  #copyAll(
    nodes: readonly TreeChild[],
    parent: TreeParent,
    shift: number,
    slice: TimeSlice,
  ): readonly TreeChild[] | Promise<readonly TreeChild[]> {
    if (nodes.length === 0) return nodes;
    parent.children = nodes.slice(); // an array that grows would keep room for more
    return nodes.length < nodesAtOnce && this.#count < nodesAtOnce
      ? this.#copyFrom(0, nodes.length, nodes, parent, shift)
      : this.#copyInSlices(nodes, parent, shift, slice);
  }

  async #copyInSlices(
    nodes: readonly TreeChild[],
    parent: TreeParent,
    shift: number,
    slice: TimeSlice,
  ): Promise<readonly TreeChild[]> {
    this.#count = 0;
    for (let start = 0; start < nodes.length; start += nodesAtOnce) {
      this.#copyFrom(start, Math.min(start + nodesAtOnce, nodes.length), nodes, parent, shift);
      if (slice.isOver) await slice.renew();
    }
    return parent.children;
  }

  #copyFrom(start: number, end: number, nodes: readonly TreeChild[], parent: TreeParent, shift: number): TreeChild[] {
    const { children } = parent;
    let prev = children[start - 1] ?? null;
    for (let index = start; index < end; index += 1) {
      const node = nodes[index];
      if (!node) break;
      const copy = this.#copyOf(node, shift);
      copy.parent = parent;
      copy.prev = prev;
      if (prev) prev.next = copy;
      children[index] = copy;
      prev = copy;
    }
    this.#count += end - start;
    return children;
  }

  #copyOf(node: TreeChild, shift: number): TreeChild {
    const copy = this.#newNode(node, shift);
    if (this.#asked.has(node)) this.twins.set(node, copy);
    return copy;
  }

  #newNode(node: TreeChild, shift: number): TreeChild {
    if (node instanceof SourceElement) return this.#newElement(node, shift);
    const start = (node.startIndex ?? 0) + shift;
    const end = (node.endIndex ?? 0) + shift;
    let copy: TreeChild;
    if (node instanceof TextNode) copy = new TextNode(this.#textAt(start, end + 1, node.data));
    else if (node instanceof CommentNode) copy = new CommentNode(this.#textAt(start + 4, end - 2, node.data));
    else {
      const { "x-name": name, "x-publicId": publicId, "x-systemId": systemId } = node as DoctypeNode;
      copy = new DoctypeNode(name, publicId, systemId);
    }
    copy.startIndex = start;
    copy.endIndex = end;
    return copy;
  }

  #newElement(element: SourceElement, shift: number): SourceElement {
    const [start, end] = this.#lost.get(element) ?? [element.startIndex, element.endIndex];
    const copy = element.twin(start === null ? undefined : this.#source);
    // An implied `body` has an end tag, perhaps.
    copy.endIndex = end === null ? null : end + shift;
    copy.contentEnd = element.contentEnd === -1 ? -1 : element.contentEnd + shift;
    if (start !== null) {
      copy.startIndex = start + shift;
      copy.contentStart = element.contentStart + shift;
    }
    if (copy instanceof TemplateElement && element instanceof TemplateElement && this.#asked.has(element.content)) {
      this.twins.set(element.content, copy.content);
    }
    return copy;
  }

  /** A slice of the new source, where it reads the same: one of an old source would keep all of that in memory. */
  #textAt(start: number, end: number, data: string): string {
    const text = this.#source.slice(start, end);
    return text === data ? text : data;
  }
}

/** What the children of an element belong to: of a `template`, its content. */
function parentOfContent(element: SourceElement): TreeParent {
  return element instanceof TemplateElement ? element.content : element;
}
