import type { SourceElement, TreeParent } from "../document/html-nodes.ts";
import type { Replacement } from "./splice.ts";
import type { Fragment } from "./well-formed.ts";

/** A change of the source, and what it is to do to the tree. */
export interface Placement extends Replacement {
  /** Elements that go; what is supplied stands in place of the first. */
  readonly removes?: readonly SourceElement[];
  /** The element whose last child the supplied HTML becomes. */
  readonly appendsTo?: SourceElement;
  readonly fragment?: Fragment;
  /** Where in `text` the fragment begins. @default 0 */
  readonly fragmentStart?: number;
}

/** Supplied HTML in an edited document. */
export interface PlacedFragment {
  readonly fragment: Fragment;
  /** Where in the edited source it begins. */
  readonly offset: number;
  /** What it is content of. */
  readonly parent: TreeParent | null;
}

/** What an edit is to do to a tree: elements that give way to a fragment or to nothing, and elements that get one. */
export interface TreeEdit {
  readonly instead: ReadonlyMap<SourceElement, PlacedFragment | undefined>;
  readonly added: ReadonlyMap<SourceElement, readonly PlacedFragment[]>;
}

/** What placements, in the order of the source, are to do to the tree. */
export function treeEdit(placements: readonly Placement[]): TreeEdit {
  const instead = new Map<SourceElement, PlacedFragment | undefined>();
  const added = new Map<SourceElement, PlacedFragment[]>();
  let delta = 0;
  for (const { start, end, text, removes = [], appendsTo, fragment, fragmentStart = 0 } of placements) {
    const offset = start + delta + fragmentStart;
    delta += text.length - (end - start);
    const [first] = removes;
    const parent = appendsTo ?? first?.parent ?? null;
    const placed = fragment && { fragment, offset, parent };
    for (const element of removes) instead.set(element, element === first ? placed : undefined);
    if (appendsTo && placed) added.set(appendsTo, [...(added.get(appendsTo) ?? []), placed]);
  }
  return { instead, added };
}

/** How long the source will be. */
export function splicedLength(source: string, placements: readonly Replacement[]): number {
  return placements.reduce((length, { start, end, text }) => length + text.length - (end - start), source.length);
}
