import { RootNode, SourceElement, TemplateElement, type TreeChild, type TreeNode } from "./html-nodes.ts";

/** What stands between the tags of a node; of a `template`, its content. */
export function contentOf(node: TreeNode): readonly TreeChild[] {
  if (node instanceof TemplateElement) return node.content.children;
  return "children" in node ? node.children : [];
}

/**
 * Goes through everything below a node in the order of a source: comes to each node, and to each element once more at
 * its end. Template contents are part of it. A loop, not a recursion: a deep tree must not overflow the stack.
 */
export class TreeWalk {
  node: TreeNode;
  /** Whether this is the end of an element, behind its content. */
  isAtEnd: boolean = false;
  readonly #root: TreeNode;

  constructor(root: TreeNode) {
    this.node = root;
    this.#root = root;
  }

  /** Goes on by one; `false` where everything was seen. */
  advance(): boolean {
    if (this.isAtEnd) return this.skip();
    const [first] = contentOf(this.node);
    if (first) {
      this.node = first;
      return true;
    }
    if (this.node === this.#root || !(this.node instanceof SourceElement)) return this.skip();
    this.isAtEnd = true;
    return true;
  }

  /** Goes on behind the node, past all its content. */
  skip(): boolean {
    const { node } = this;
    if (node === this.#root) return false;
    this.isAtEnd = false;
    if (node.next) {
      this.node = node.next;
      return true;
    }
    const { parent } = node;
    const owner = parent instanceof RootNode && parent !== this.#root ? parent.parent : parent;
    if (!owner || owner === this.#root) return false;
    this.node = owner;
    this.isAtEnd = true;
    return true;
  }
}
