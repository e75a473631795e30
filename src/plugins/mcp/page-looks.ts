import { type SlicedWork, settled } from "../../event-loop/sliced-work.ts";
import {
  elementSpan,
  elementsBelow,
  joined,
  outerHtmlParts,
  outermost,
  SourceElement,
  type TreeParent,
} from "../../html/engine.ts";
import { HttpError } from "../../http/http-error.ts";
import { likeliest } from "../../options/schema.ts";
import type { InspectedPage } from "../../server/inspection.ts";
import { PageText } from "./page-text.ts";

/** About 1,800 tokens of markup-like text. */
const outlineCharacters = 5_400;
const textCharacters = 60;

/** Names of elements by how soon they are left out of an outline that gets too long: the last first. */
const ranks: readonly (readonly string[])[] = [
  ["title", "h1", "main", "nav", "form"],
  ["h2", "header", "footer", "aside", "article", "section", "table", "dialog", "search"],
  ["h3", "ul", "ol", "dl", "select", "fieldset"],
  ["h4", "h5", "h6"],
];
const items: Readonly<Record<string, string>> = { ul: "li", ol: "li", dl: "dt", select: "option", table: "tr" };

/** Headings, landmarks, forms, lists, tables and elements with ids, one a line, below what a request selects. */
export function* outlineOf(page: InspectedPage): SlicedWork<object> {
  requireMatches(page);
  const selectorOf = yield* selectorsIn(page);
  const text = yield* PageText.of(page.document.root);
  const inside: SourceElement[] = [];
  for (const top of outermost(page.matches)) {
    inside.push(top);
    for (const each of elementsBelow(top)) yield void inside.push(each);
  }
  const lines = new Map<SourceElement, string>();
  let length = 0;
  for (const names of [...ranks, undefined]) {
    for (const element of inside) {
      yield;
      const { name, attribs } = element;
      const isMeant = names ? names.includes(name) : attribs["id"] || attribs["role"];
      if (!isMeant || lines.has(element) || !(yield* mayRead(page, element))) continue;
      const line = length < outlineCharacters ? yield* lineOf(element, yield* selectorOf(element), text) : "";
      lines.set(element, line);
      length += line.length + 1;
    }
  }
  const shown = inside.flatMap((element) => lines.get(element) || []);
  const left = lines.size - shown.length;
  const more = `${left} elements are left out: outline again with a selector from here`;
  return { etag: page.etag, outline: shown.join("\n"), ...(left > 0 && { more }) };
}

function requireMatches({ matches }: InspectedPage): void {
  if (matches.length === 0) throw new HttpError(416, "NO_MATCH", "Nothing matches the selector.");
}

function* mayRead(page: InspectedPage, element: SourceElement): SlicedWork<boolean> {
  return page.isReadable || (yield* settled(page.mayRead(element)));
}

function* lineOf(element: SourceElement, selector: string, text: PageText): SlicedWork<string> {
  const { name } = element;
  const span = elementSpan(element);
  const item = items[name];
  let count = 0;
  for (const each of item ? elementsBelow(element) : []) {
    if (each.name === item) count += 1;
    yield;
  }
  const parts = [
    selector,
    selector.startsWith("#") && name,
    /^(?:h[1-6]|title)$/.test(name) && JSON.stringify(text.beginningOf(element, textCharacters)),
    item && `${count} ${item}`,
    span && `(${span.end - span.start})`,
  ];
  return parts.filter(Boolean).join(" ");
}

/** The elements that a request selects and the client may read, from one of them on, as far as they fit. */
export function* elementsOf(page: InspectedPage, from: number, mostCharacters: number): SlicedWork<object> {
  requireMatches(page);
  const selectorOf = yield* selectorsIn(page);
  const readable = yield* readableOf(page, page.matches);
  const elements: object[] = [];
  let left = mostCharacters;
  let next = from;
  for (const element of readable.slice(from)) {
    const selector = yield* selectorOf(element);
    const html = yield* joined(outerHtmlParts(page.document, element));
    const room = Math.max(0, left - selector.length);
    const excess = html.length - room;
    if (excess > 0 && next > from) break;
    const told = { selector, etag: yield* settled(page.tagOf([element])), html: html.slice(0, room) };
    elements.push({ ...told, ...(excess > 0 && { cut: `${excess} characters are left out` }) });
    left = Math.max(0, -excess);
    next += 1;
  }
  return { etag: page.etag, matches: readable.length, elements, ...(next < readable.length && { next }) };
}

function* readableOf(page: InspectedPage, elements: readonly SourceElement[]): SlicedWork<readonly SourceElement[]> {
  const readable: SourceElement[] = [];
  for (const element of elements) if (yield* mayRead(page, element)) readable.push(element);
  return readable;
}

/** Where a text stands, or which of the selected elements hold it: the innermost elements, the first few of them. */
export function* findIn(page: InspectedPage, wanted: string | undefined, most: number): SlicedWork<object[]> {
  const selectorOf = yield* selectorsIn(page);
  const text = yield* PageText.of(page.document.root);
  const holds = wanted?.trim() ? text.holding(wanted) : undefined;
  const found: object[] = [];
  for (const match of page.matches) {
    if (found.length === most) break;
    yield;
    if (holds && !holds(match)) continue;
    const inner = holds ? yield* innermost(match, holds) : match;
    if (yield* mayRead(page, inner))
      found.push({ selector: yield* selectorOf(inner), text: text.beginningOf(inner, textCharacters) });
  }
  return found;
}

/** The first element that holds it, in the first one that holds it, and so on. */
function* innermost(element: SourceElement, holds: (element: SourceElement) => boolean): SlicedWork<SourceElement> {
  let inner = element;
  for (let i = 0; i < inner.children.length; i += 1) {
    const child = inner.children[i];
    if (child instanceof SourceElement && holds(child)) [inner, i] = [child, -1];
    yield;
  }
  return inner;
}

/** What is there now for a selector: how many elements it selects, or selectors near it that do select some. */
export function* nearestTo(page: InspectedPage, selector: string): SlicedWork<object> {
  const { etag } = page;
  const matches = (yield* readableOf(page, page.matches.slice(0, 100))).length;
  if (matches > 0) {
    const isAll = matches === page.matches.length;
    return { etag, matches, ...(isAll && { elementTag: yield* settled(page.tagOf(page.matches)) }) };
  }
  const near: object[] = [];
  for (const each of yield* likelyIn(page, selector)) {
    const found = yield* settled(page.find(each));
    const count = (yield* readableOf(page, found.slice(0, 100))).length;
    if (count > 0) near.push({ selector: each, matches: count });
    if (near.length === 3) break;
  }
  return { etag, matches, near };
}

const plainName = /^[a-z_][\w-]*$/i;
/** Names of a page, and parts of a selector, that are compared with each other at most. */
const mostNames = 10_000;
const mostParts = 20;

/** Elements by name, id and class that are spelled as parts of a selector are, or nearly. */
function* likelyIn({ document }: InspectedPage, selector: string): SlicedWork<ReadonlySet<string>> {
  const known = new Map<string, string>();
  for (const { name, attribs } of elementsBelow(document.root)) {
    if (known.size >= mostNames) break;
    known.set(name, name);
    for (const each of attribs["class"]?.split(/\s+/) ?? []) known.set(each, `.${each}`);
    if (attribs["id"]) known.set(attribs["id"], `#${attribs["id"]}`);
    yield;
  }
  const names = [...known.keys()].filter((name) => plainName.test(name)).slice(0, mostNames);
  const likely = new Set<string>();
  for (const part of (selector.match(/[a-z_][\w-]*/gi) ?? []).slice(0, mostParts)) {
    const meant = known.get(likeliest(part, names) ?? "");
    if (meant !== undefined) likely.add(meant);
    yield;
  }
  return likely;
}

/**
 * Gives each element a selector that selects it and no other: `#id` where that is unique, otherwise the way from the
 * nearest element that has such an id. The ids of elements around are told only to those who may read all of the page.
 */
export function* selectorsIn({
  document: { root },
  isReadable,
}: Pick<InspectedPage, "document" | "isReadable">): SlicedWork<(element: SourceElement) => SlicedWork<string>> {
  const counts = new Map<string, number>();
  for (const { attribs } of elementsBelow(root)) {
    const id = attribs["id"];
    if (id && plainName.test(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
    yield;
  }
  const steps = new Map<SourceElement, string>();
  return function* (element) {
    const way: string[] = [];
    for (let each: TreeParent | null = element; each instanceof SourceElement; each = each.parent) {
      const id = each.attribs["id"] ?? "";
      const isKnownById = counts.get(id) === 1 && (each === element || isReadable);
      if (!isKnownById && !steps.has(each)) yield* addSteps(each.parent, steps);
      way.push(isKnownById ? `#${id}` : (steps.get(each) ?? ""));
      if (isKnownById) break;
    }
    return way.reverse().join(" > ");
  };
}

/** Notes for each child `li:nth-child(3)`; an element that is the only one of its name needs no number. */
function* addSteps(parent: TreeParent | null, steps: Map<SourceElement, string>): SlicedWork<void> {
  const children: SourceElement[] = [];
  const counts = new Map<string, number>();
  for (const each of parent?.children ?? []) {
    yield;
    if (!(each instanceof SourceElement)) continue;
    children.push(each);
    counts.set(each.name, (counts.get(each.name) ?? 0) + 1);
  }
  for (const [index, each] of children.entries()) {
    const type = plainName.test(each.name) ? each.name : ""; // the others cannot stand in a selector as they are
    const isOnly = type !== "" && counts.get(type) === 1;
    yield void steps.set(each, isOnly ? type : `${type}:nth-child(${index + 1})`);
  }
}
