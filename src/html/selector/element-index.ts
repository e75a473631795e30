import { nextNode } from "../document/html-document.ts";
import { type RootNode, SourceElement } from "../document/html-nodes.ts";
import { asciiLowerCase } from "./attribute-selector.ts";
import type { EvaluationClock } from "./evaluation-clock.ts";
import type { CompoundSelector } from "./selector-tree.ts";

/** The elements of a document in document order: all, and by what selectors most often begin with, in lower case. */
export interface ElementIndex {
  readonly all: readonly SourceElement[];
  readonly byName: ReadonlyMap<string, readonly SourceElement[]>;
  readonly byId: ReadonlyMap<string, readonly SourceElement[]>;
}

/** A tree does not change once it is parsed, and is asked many times while it lies in the cache. */
const indexes = new WeakMap<RootNode, ElementIndex>();

/** The index of a document, made when it is asked for the first time. */
export function elementIndex(root: RootNode, clock: EvaluationClock): ElementIndex {
  const known = indexes.get(root);
  if (known) return known;
  const all: SourceElement[] = [];
  const byName = new Map<string, SourceElement[]>();
  const byId = new Map<string, SourceElement[]>();
  for (let node = nextNode(root, root); node; node = nextNode(node, root)) {
    clock.spend();
    if (!(node instanceof SourceElement)) continue;
    all.push(node);
    addTo(byName, node.name, node);
    const id = node.attribs["id"];
    if (id !== undefined) addTo(byId, id, node);
  }
  const index = { all, byName, byId };
  indexes.set(root, index);
  return index;
}

/** Few elements among which all are that match a compound selector. */
export function candidatesFor(compound: CompoundSelector, index: ElementIndex): readonly SourceElement[] {
  let fewest = index.all;
  for (const simple of compound) {
    let found: readonly SourceElement[] = index.all;
    if (simple.kind === "id") found = index.byId.get(asciiLowerCase(simple.value)) ?? [];
    if (simple.kind === "type") found = index.byName.get(asciiLowerCase(simple.name)) ?? [];
    if (simple.kind === "nothing") found = [];
    if (found.length < fewest.length) fewest = found;
  }
  return fewest;
}

function addTo(lists: Map<string, SourceElement[]>, written: string, element: SourceElement): void {
  const key = asciiLowerCase(written);
  const list = lists.get(key);
  if (list) list.push(element);
  else lists.set(key, [element]);
}
