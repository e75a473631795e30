import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { asciiLowerCase } from "../document/html-names.ts";
import { type RootNode, SourceElement } from "../document/html-nodes.ts";
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

/**
 * The elements of a document in document order: all, and by id, class and name. Making it costs no steps of an evaluation,
 * so that the first one over a document takes as many as all others.
 */
export class ElementIndex {
  readonly all: ElementList;
  readonly #lists = new Map<Feature, ReadonlyMap<string, ElementList>>();

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

function lowerTexts(attribute: string | undefined): readonly string[] {
  return attribute === undefined ? [] : [asciiLowerCase(attribute)];
}

function addTo(lists: Map<string, SourceElement[]>, key: string, element: SourceElement): void {
  const list = lists.get(key);
  if (!list) lists.set(key, [element]);
  else if (list.at(-1) !== element) list.push(element); // The same class may be there twice.
}
