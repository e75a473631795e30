import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { asciiLowerCase } from "../document/html-names.ts";
import { type RootNode, SourceElement } from "../document/html-nodes.ts";
import type { Neighbours } from "../document/seams.ts";
import { nextNode } from "../document/tree-walk.ts";
import type { CompoundSelector } from "./selector-tree.ts";

type ElementList = readonly SourceElement[];

/** What elements are found by, what narrows most first. */
const features = ["id", "class", "type"] as const;
type Feature = (typeof features)[number];

/** What an element is found under, in lower case: some documents compare in any case. */
const keysOf: Readonly<Record<Feature, (element: SourceElement) => readonly string[]>> = {
  id: ({ attribs }) => lowerTexts(attribs["id"]),
  class: ({ attribs }) => lowerTexts(attribs["class"]).flatMap((text) => text.split(/[ \t\r\n\f]+/)),
  type: ({ name }) => [asciiLowerCase(name)],
};

/** About half a millisecond of work. */
const elementsInSlice = 4096;
/** Among so few, looking at each costs less than a further list of the whole document. */
const fewEnough = 16;

/** A tree does not change once it is parsed, and is asked many times while it lies in the cache. */
const indexes = new WeakMap<RootNode, ElementIndex>();

/** The index of a document, made when it is asked for the first time. */
export function* elementIndex(root: RootNode): SlicedWork<ElementIndex> {
  const known = indexes.get(root);
  if (known) return known;
  const all: SourceElement[] = [];
  let nodes = 0;
  for (let node = nextNode(root, root); node; node = nextNode(node, root)) {
    if (++nodes % elementsInSlice === 0) yield;
    if (node instanceof SourceElement) all.push(node);
  }
  const index = new ElementIndex(all);
  indexes.set(root, index);
  return index;
}

/** Has a tree that took over the elements of another one, but for those between two neighbours, take its index over, too. */
export function carryIndex(from: RootNode, to: RootNode, changed: Neighbours): void {
  const index = indexes.get(from);
  if (!index) return;
  index.exchange(to, changed);
  indexes.delete(from);
  indexes.set(to, index);
}

/**
 * The elements of a document in document order: all, and by id, class and name. Making it costs no steps of an evaluation,
 * so that the first one over a document takes as many as all others.
 */
export class ElementIndex {
  all: ElementList;
  readonly #lists = new Map<Feature, Map<string, ElementList>>();

  constructor(all: ElementList) {
    this.all = all;
  }

  /** Few elements among which all are that match a compound selector. */
  *candidatesFor(compound: CompoundSelector): SlicedWork<ElementList> {
    if (compound.some(({ kind }) => kind === "nothing")) return [];
    let fewest = this.all;
    for (const feature of features) {
      for (const simple of compound) {
        if (simple.kind !== feature || fewest.length <= fewEnough) continue;
        const found = yield* this.with(feature, simple.kind === "type" ? simple.name : simple.value);
        if (found.length < fewest.length) fewest = found;
      }
    }
    return fewest;
  }

  /** The elements with an id, a class or a name, in any case. */
  *with(feature: Feature, value: string): SlicedWork<ElementList> {
    const lists = this.#lists.get(feature) ?? (yield* this.#makeLists(feature));
    return lists.get(asciiLowerCase(value)) ?? [];
  }

  /** Takes out the elements between two others, and puts in those that stand between them now. */
  exchange(root: RootNode, { before, behind, position }: Neighbours): void {
    const { all } = this;
    const start = before ? all.indexOf(before) + 1 : 0;
    const end = behind ? all.indexOf(behind, start) : all.length;
    const added: SourceElement[] = [];
    for (let node = nextNode(before ?? root, root); node && node !== behind; node = nextNode(node, root)) {
      if (node instanceof SourceElement) added.push(node);
    }
    const removed = all.slice(start, end);
    this.all = all.slice(0, start).concat(added, all.slice(end));
    const isBehind = (element: SourceElement): boolean =>
      // What has no place of its own is searched for.
      element.startIndex === null ? this.all.indexOf(element) >= start + added.length : element.startIndex >= position;
    for (const [feature, lists] of this.#lists) exchangeIn(lists, keysOf[feature], removed, added, isBehind);
  }

  *#makeLists(feature: Feature): SlicedWork<ReadonlyMap<string, ElementList>> {
    const lists = new Map<string, SourceElement[]>();
    let work = 0;
    for (const element of this.all) {
      const keys = keysOf[feature](element);
      for (const key of keys) addTo(lists, key, element);
      work += 1 + keys.length;
      if (work < elementsInSlice) continue;
      work = 0;
      yield;
    }
    this.#lists.set(feature, lists);
    return lists;
  }
}

/** Takes elements out of their lists, and puts others in. */
function exchangeIn(
  lists: Map<string, ElementList>,
  keys: (element: SourceElement) => readonly string[],
  removed: ElementList,
  added: ElementList,
  isBehind: (element: SourceElement) => boolean,
): void {
  const [goes, comes] = [new Map<string, SourceElement[]>(), new Map<string, SourceElement[]>()];
  for (const element of removed) for (const key of keys(element)) addTo(goes, key, element);
  for (const element of added) for (const key of keys(element)) addTo(comes, key, element);
  for (const key of new Set([...goes.keys(), ...comes.keys()])) {
    const list = lists.get(key) ?? [];
    const [first, ...others] = goes.get(key) ?? [];
    const start = first ? list.indexOf(first) : firstBehind(list, isBehind);
    const end = first ? start + 1 + others.length : start; // they follow each other, as in the document
    const exchanged = list.slice(0, start).concat(comes.get(key) ?? [], list.slice(end));
    if (exchanged.length > 0) lists.set(key, exchanged);
    else lists.delete(key);
  }
}

/** The index of the first element that is behind; so are all that follow it. */
function firstBehind(elements: ElementList, isBehind: (element: SourceElement) => boolean): number {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBehind(elements[middle] as SourceElement)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function lowerTexts(attribute: string | undefined): readonly string[] {
  return attribute === undefined ? [] : [asciiLowerCase(attribute)];
}

function addTo(lists: Map<string, SourceElement[]>, key: string, element: SourceElement): void {
  const list = lists.get(key);
  if (!list) lists.set(key, [element]);
  else if (list.at(-1) !== element) list.push(element); // The same class may be there twice.
}
