import { SourceElement } from "../html/document/html-nodes.ts";
import { TreeWalk } from "../html/document/tree-walk.ts";
import type { AppliedEdit } from "../html/edit/apply-edit.ts";

/** The elements that an edit has left or put in the place of those that it was about, in the new document. */
export function placedElements({ document, placements, elements }: AppliedEdit): readonly SourceElement[] {
  if (elements.length > 0) return elements; // they are still there, and hold what was added
  const isSupplied = suppliedPlaces(placements);
  const placed: SourceElement[] = [];
  const walk = new TreeWalk(document.root);
  for (let goesOn = walk.advance(); goesOn; ) {
    const { node } = walk;
    if (node instanceof SourceElement && !walk.isAtEnd && isSupplied(node.startIndex ?? -1)) {
      placed.push(node);
      goesOn = walk.skip(); // what it holds came with it
    } else goesOn = walk.advance();
  }
  return placed;
}

/** Whether a place in the edited source lies in what was supplied. */
function suppliedPlaces(placements: AppliedEdit["placements"]): (index: number) => boolean {
  let delta = 0;
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { start, end, text } of placements) {
    starts.push(start + delta);
    ends.push(start + delta + text.length);
    delta += text.length - (end - start);
  }
  return (index) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= index) low = middle + 1;
      else high = middle;
    }
    return low > 0 && index < (ends[low - 1] as number);
  };
}
