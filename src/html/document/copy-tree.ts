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

/** Elements that are copied without a look at the clock. */
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
    for (const [from, to, shift] of this.#tops.splice(0)) {
      const waiting: [TreeChild | undefined, TreeChild][] = [[from, to]];
      for (let pair = waiting.pop(); pair; pair = waiting.pop()) {
        const [node, copy] = pair;
        if (!(copy instanceof SourceElement)) continue;
        if (copy.startIndex !== null) this.elements.push(copy);
        if (node instanceof SourceElement) waiting.push(...this.#copyContent(node, copy, shift).reverse());
        this.#count += 1;
        if (this.#count % nodesAtOnce === 0 && slice.isOver) await slice.renew();
      }
    }
  }

  /** Copies the children of an element; gives back those that may have children. */
  #copyContent(element: SourceElement, copy: SourceElement, shift: number): [SourceElement, TreeChild][] {
    const from = element instanceof TemplateElement ? element.content : element;
    const to = copy instanceof TemplateElement ? copy.content : copy;
    if (from.children.length === 0) return [];
    const pairs: [SourceElement, TreeChild][] = [];
    let prev: TreeChild | null = null;
    to.children = from.children.map((child) => {
      const twin = this.#copyOf(child, shift);
      twin.parent = to;
      twin.prev = prev;
      if (prev) prev.next = twin;
      prev = twin;
      if (child instanceof SourceElement) pairs.push([child, twin]);
      return twin;
    });
    return pairs;
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
