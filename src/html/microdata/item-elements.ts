import { getAttributeValue, getChildren, hasAttrib } from "domutils";
import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { isHtmlElement, SourceElement } from "../document/html-nodes.ts";
import { MicrodataError, type MicrodataMistake, type Page } from "./microdata-page.ts";

/** Twice the elements of the largest page; more is one that refers to the same large part again and again. */
const maxVisits = 2_000_000;

/** Finds the elements that are the properties of an item. One instance serves one page. */
export class ItemElements {
  readonly #page: Page;
  readonly #mistakes: MicrodataMistake[];
  #visits = 0;

  constructor(page: Page, mistakes: MicrodataMistake[]) {
    this.#page = page;
    this.#mistakes = mistakes;
  }

  /** "The properties of an item" of the HTML Standard: the elements in tree order. */
  *of(root: SourceElement): SlicedWork<readonly SourceElement[]> {
    const results: SourceElement[] = [];
    const seen = new Set([root]);
    const pending = [...this.#referred(root), ...childElements(root)].reverse();
    for (let current = pending.pop(); current; current = pending.pop()) {
      this.#count(root);
      if (this.#visits % 1024 === 0) yield;
      if (seen.has(current)) {
        const [at, line] = [this.#page.lines.get(root) ?? 1, this.#page.lines.get(current)];
        const which = line === undefined ? `<${current.name}>` : `<${current.name}> of line ${line}`;
        this.#mistakes.push({ line: at, text: `itemref leads to ${which} that belongs to the item already` });
        continue;
      }
      seen.add(current);
      if (!isItem(current)) for (const child of childElements(current).reverse()) pending.push(child);
      if (propertyNames(current).length > 0) results.push(current);
    }
    const order = (element: SourceElement): number => this.#page.order.get(element) ?? 0;
    return results.sort((a, b) => order(a) - order(b));
  }

  #referred(root: SourceElement): SourceElement[] {
    const ids = tokens(getAttributeValue(root, "itemref"));
    return ids.flatMap((id) => {
      const element = this.#page.ids.get(id);
      if (element) return [element];
      const text = `itemref names ${JSON.stringify(id)}, which is the id of no element`;
      this.#mistakes.push({ line: this.#page.lines.get(root) ?? 1, text });
      return [];
    });
  }

  #count(root: SourceElement): void {
    this.#visits += 1;
    if (this.#visits <= maxVisits) return;
    throw new MicrodataError(this.#page.lines.get(root) ?? 1, "the items of the page refer to too many elements");
  }
}

export function isItem(element: SourceElement): boolean {
  return isHtmlElement(element) && hasAttrib(element, "itemscope");
}

export function propertyNames(element: SourceElement): readonly string[] {
  return isHtmlElement(element) ? tokens(getAttributeValue(element, "itemprop")) : [];
}

/** Unique words between the white space of HTML, which is less than what JavaScript takes for white space. */
export function tokens(text: string = ""): string[] {
  return [...new Set(text.split(/[\t\n\f\r ]+/))].filter(Boolean);
}

function childElements(element: SourceElement): SourceElement[] {
  return getChildren(element).filter((node) => node instanceof SourceElement);
}
