import { forEachNode, type HtmlDocument } from "./html-document.ts";
import { SourceElement, type TreeNode } from "./html-nodes.ts";
import { type Replacement, shiftOffset } from "./splice.ts";
import { type Fragment, type FragmentTag, invalidHtml } from "./well-formed.ts";

/** A replacement that puts supplied HTML somewhere. */
export interface Placement extends Replacement {
  readonly fragment?: Fragment;
  /** Where in `text` the fragment begins. */
  readonly fragmentStart?: number;
  /** The element that the fragment is to be content of; `null` for the document itself. */
  readonly parent?: TreeNode | null;
}

/**
 * Checks that supplied HTML kept its elements, and that they are where they were put, in the tree of the edited document:
 * a `tr` loses its tags in a `div`, a `div` is moved out of a `tr`, a `p` ends the `p` around it, `<p><div></div></p>` is
 * three elements. Throws 400 `INVALID_HTML`.
 */
export function requireFit(edited: HtmlDocument, placements: readonly Placement[]): void {
  const tagged = elementsWithTags(edited);
  const starts = tagged.map(({ contentStart }) => contentStart);
  let delta = 0;
  for (const { start, end, text, fragment, fragmentStart = 0, parent = null } of placements) {
    const offset = start + delta + fragmentStart;
    delta += text.length - (end - start);
    if (!fragment) continue;
    const container = nearestWithTag(parent);
    const expected = container && tagged[firstAbove(starts, shiftOffset(container.contentStart - 2, placements))];
    for (const tag of fragment.tags) {
      const element = tagged[firstAbove(starts, offset + tag.start)];
      if (element && isKept(element, tag, offset, expected)) continue;
      const place = container ? ` in <${container.name}>` : "";
      const reason = `<${tag.name}> cannot stand there${place}; a browser would move, split or drop it`;
      throw invalidHtml(reason, tag.line, tag.column);
    }
  }
}

function isKept(
  element: SourceElement,
  { start, endTag }: FragmentTag,
  offset: number,
  expected: SourceElement | undefined,
): boolean {
  if (element.startIndex !== offset + start) return false;
  if (endTag !== undefined && element.contentEnd !== offset + endTag) return false;
  const container = nearestWithTag(element.parent);
  const isInFragment = container !== undefined && container.contentStart > offset;
  return isInFragment || container === expected;
}

/** The elements whose start tag the source has, in its order. */
function elementsWithTags({ root }: HtmlDocument): SourceElement[] {
  const elements: SourceElement[] = [];
  forEachNode(root, (node) => {
    if (node instanceof SourceElement && node.contentStart !== -1) elements.push(node);
  });
  return elements.sort((a, b) => a.contentStart - b.contentStart);
}

function nearestWithTag(node: TreeNode | null): SourceElement | undefined {
  for (let current = node; current; current = current.parent) {
    if (current instanceof SourceElement && current.contentStart !== -1) return current;
  }
  return undefined;
}

/** Index of the first of sorted `values` that is greater than `limit`. */
function firstAbove(values: readonly number[], limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
