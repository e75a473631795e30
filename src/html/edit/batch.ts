import type { SourceElement, TreeParent } from "../document/html-nodes.ts";
import { compileSelector } from "../selector/select.ts";
import type { CompoundSelector, SelectorList } from "../selector/selector-tree.ts";
import type { Placement } from "./placement.ts";

/** Each place is compared with all others. */
const mostPlacements = 1000;

/** What a parser may add by itself to what is supplied. */
const implied = ["tbody", "tr", "colgroup", "head", "body"];

/**
 * Changes of one version of a page that have nothing to do with each other, so that they can be parsed and proven
 * together: what each of them would be after the others is what it is now. Where that is not certain, the answer is no.
 */
export class Batch {
  readonly placements: Placement[] = [];
  readonly #gone = new Set<unknown>();
  readonly #tagged = new Set<unknown>();
  /** Attributes that change, and what is added: `name`, `#id`, `.class`; in lower case. */
  readonly #attributes = new Set<string>();
  readonly #added = new Set<string>();

  /** Whether a selector certainly selects what it selects now, except for what has gone. */
  leavesAlone(selector: string): boolean {
    return (
      this.placements.length === 0 ||
      listOf(selector).every((each) => each.every(this.#isPlain, this) && this.#isOld(each.at(-1)?.compound))
    );
  }

  /** Whether elements are still there. */
  has(elements: readonly SourceElement[]): boolean {
    if (this.#gone.size === 0) return true;
    return elements.every((element) => {
      for (let each: TreeParent | null = element; each; each = each.parent) if (this.#gone.has(each)) return false;
      return true;
    });
  }

  /** Whether attributes of one of the elements change: what another change would make of them, they do not say yet. */
  changesTag(elements: readonly SourceElement[]): boolean {
    return elements.some((element) => this.#tagged.has(element));
  }

  /** Takes further changes; takes nothing if one of them touches a change that is here already. */
  take(placements: readonly Placement[]): boolean {
    if (this.placements.length + placements.length > mostPlacements) return false;
    const touches = ({ start, end }: Placement): boolean =>
      this.placements.some((each) => start <= each.end && end >= each.start);
    if (placements.some(touches)) return false;
    for (const placement of placements) this.#add(placement);
    return true;
  }

  #add(placement: Placement): void {
    const { removes = [], empties, tags, fragment } = placement;
    this.placements.push(placement);
    for (const element of [...removes, ...(empties?.children ?? [])]) this.#gone.add(element);
    if (tags) {
      this.#tagged.add(tags.element);
      for (const name of Object.keys({ ...tags.element.attribs, ...tags.attributes })) {
        if (tags.element.attribs[name] !== tags.attributes[name]) this.#attributes.add(name.toLowerCase());
      }
    }
    if (!fragment || fragment.tags.length === 0) return;
    for (const name of implied) this.#added.add(name);
    for (const { name, attributes } of fragment.tags) {
      this.#added.add(name.toLowerCase());
      for (const [key, value] of Object.entries(attributes)) {
        const words = value.toLowerCase();
        if (key.toLowerCase() === "id") this.#added.add(`#${words}`);
        if (key.toLowerCase() === "class") for (const each of words.split(/\s+/)) this.#added.add(`.${each}`);
      }
    }
  }

  /** Whether a part of a selector asks only what an element is called, has and lies in, and nothing that changes. */
  #isPlain({ combinator, compound }: SelectorList[number][number]): boolean {
    if (combinator === "next-sibling" || combinator === "subsequent-sibling") return false;
    return compound.every((simple) => {
      if (simple.kind === "type" || simple.kind === "universal") return true;
      if (simple.kind === "id" || simple.kind === "class") return !this.#attributes.has(simple.kind);
      return simple.kind === "attribute" && !this.#attributes.has(simple.name.toLowerCase());
    });
  }

  /** Whether nothing that is added can match a part of a selector. */
  #isOld(compound: CompoundSelector = []): boolean {
    return (
      this.#added.size === 0 ||
      compound.some((simple) => {
        if (simple.kind === "type") return !this.#added.has(simple.name.toLowerCase());
        if (simple.kind === "id") return !this.#added.has(`#${simple.value.toLowerCase()}`);
        return simple.kind === "class" && !this.#added.has(`.${simple.value.toLowerCase()}`);
      })
    );
  }
}

/** The parts of a selector; one that is never certain for a selector that cannot be parsed, which others report. */
function listOf(selector: string): SelectorList {
  try {
    return compileSelector(selector);
  } catch {
    return [[{ combinator: null, compound: [{ kind: "nothing" }] }]];
  }
}
