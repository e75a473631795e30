import { type SlicedWork, sharedWork } from "../../event-loop/sliced-work.ts";
import { nextNode, type RootNode, SourceElement } from "../document/html-nodes.ts";
import type { Neighbours } from "../document/seams.ts";
import { asciiLowerCase } from "../tokenizer/text.ts";
import type { CompoundSelector } from "./selector-tree.ts";
import { countBefore } from "./sorted.ts";

type ElementList = readonly SourceElement[];
type Lists = Map<string, SourceElement[]>;

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
const begun = new WeakMap<RootNode, () => SlicedWork<ElementIndex>>();

/** The index of a document, made when it is asked for the first time. */
export function* elementIndex(root: RootNode): SlicedWork<ElementIndex> {
  const known = indexes.get(root);
  if (known) return known;
  const making = begun.get(root) ?? sharedWork(indexOf(root));
  begun.set(root, making);
  return yield* making();
}

function* indexOf(root: RootNode): SlicedWork<ElementIndex> {
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

/** Hands the index of a tree on to the one that took over its elements, but for those between two neighbours. */
export function* carryIndex(from: RootNode, to: RootNode, changed: Neighbours): SlicedWork<void> {
  const index = indexes.get(from);
  if (!index) return;
  indexes.delete(from);
  yield;
  yield* index.exchange(to, changed);
  indexes.set(to, index);
}

/**
 * The elements of a document in document order: all, and by id, class and name. Making it costs no steps of an
 * evaluation, so that the first one over a document takes as many as all others.
 */
export class ElementIndex {
  all: SourceElement[];
  readonly #lists = new Map<Feature, Lists>();
  readonly #begun = new Map<Feature, () => SlicedWork<Lists>>();

  constructor(all: SourceElement[]) {
    this.all = all;
  }

  /** Few elements among which all are that match a compound selector. */
  *candidatesFor(compound: CompoundSelector): SlicedWork<ElementList> {
    if (compound.some(({ kind }) => kind === "nothing")) return [];
    let fewest: ElementList = this.all;
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
    let lists = this.#lists.get(feature);
    if (!lists) {
      const making = this.#begun.get(feature) ?? sharedWork(listsOf(this.all, keysOf[feature]));
      this.#begun.set(feature, making);
      lists = yield* making();
      this.#begun.delete(feature); // an edit may have them made anew
      this.#lists.set(feature, lists);
    }
    return lists.get(asciiLowerCase(value)) ?? [];
  }

  /** Takes out the elements between two others, and puts in those that stand between them now. */
  *exchange(root: RootNode, { before, behind, position }: Neighbours): SlicedWork<void> {
    const { all } = this;
    const start = before ? all.indexOf(before) + 1 : 0;
    const end = behind ? all.indexOf(behind, start) : all.length;
    const added: SourceElement[] = [];
    for (let node = nextNode(before ?? root, root); node && node !== behind; node = nextNode(node, root)) {
      if (node instanceof SourceElement && added.push(node) % elementsInSlice === 0) yield;
    }
    yield;
    const removed = all.slice(start, end);
    this.all = exchanged(all, start, end, added);
    const isBehind = (element: SourceElement): boolean =>
      // What has no place of its own is searched for.
      element.startIndex === null ? this.all.indexOf(element) >= start + added.length : element.startIndex >= position;
    // Taking most elements out of their lists is more work than making those lists anew that are asked for.
    if (removed.length > all.length / 2) this.#lists.clear();
    for (const [feature, lists] of this.#lists) {
      yield;
      yield* exchangeIn(lists, keysOf[feature], removed, added, isBehind);
    }
  }
}

function* listsOf(elements: ElementList, keysOf: (element: SourceElement) => readonly string[]): SlicedWork<Lists> {
  const lists: Lists = new Map();
  let work = 0;
  for (const element of elements) {
    const keys = keysOf(element);
    for (const key of keys) {
      const list = lists.get(key);
      if (!list) lists.set(key, [element]);
      else if (list.at(-1) !== element) list.push(element); // the same class may be there twice
    }
    work += 1 + keys.length;
    if (work < elementsInSlice) continue;
    work = 0;
    yield;
  }
  return lists;
}

/** Takes elements out of their lists, and puts others in. */
function* exchangeIn(
  lists: Lists,
  keys: (element: SourceElement) => readonly string[],
  removed: ElementList,
  added: ElementList,
  isBehind: (element: SourceElement) => boolean,
): SlicedWork<void> {
  const goes = yield* listsOf(removed, keys);
  const comes = yield* listsOf(added, keys);
  let work = 0;
  for (const key of new Set([...goes.keys(), ...comes.keys()])) {
    const list = lists.get(key) ?? [];
    const gone = goes.get(key) ?? [];
    const [first] = gone;
    const start = first ? list.indexOf(first) : countBefore(list, (element) => !isBehind(element));
    const end = start + gone.length; // they follow each other, as in the document
    const now = exchanged(list, start, end, comes.get(key) ?? []);
    if (now.length > 0) lists.set(key, now);
    else lists.delete(key);
    work += 1 + list.length;
    if (work < elementsInSlice) continue;
    work = 0;
    yield;
  }
}

/** Elements of a list give way to others. A short list itself is changed: a copy of it would be garbage soon. */
function exchanged(list: SourceElement[], start: number, end: number, others: ElementList): SourceElement[] {
  if (others.length > elementsInSlice) return list.slice(0, start).concat(others, list.slice(end));
  list.splice(start, end - start, ...others);
  return list;
}

function lowerTexts(attribute: string | undefined): readonly string[] {
  return attribute === undefined ? [] : [asciiLowerCase(attribute)];
}
