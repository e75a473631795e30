import { inSlices } from "../../event-loop/sliced-work.ts";
import {
  elementSpan,
  elementsBelow,
  joined,
  outerHtmlParts,
  SourceElement,
  type TreeParent,
  textContent,
} from "../../html/engine.ts";
import { HttpError } from "../../http/http-error.ts";
import { likeliest } from "../../options/schema.ts";
import type { InspectedPage } from "../../server/inspection.ts";

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
export async function outlineOf(page: InspectedPage): Promise<object> {
  requireMatches(page);
  const selectorOf = selectorsIn(page);
  const inside = new Set(page.matches.flatMap((top) => [top, ...elementsBelow(top)]));
  const lines = new Map<SourceElement, string>();
  let length = 0;
  for (const names of [...ranks, undefined]) {
    for (const element of inside) {
      const { name, attribs } = element;
      const isMeant = names ? names.includes(name) : attribs["id"] || attribs["role"];
      if (!isMeant || lines.has(element) || !(await page.mayRead(element))) continue;
      const line = length < outlineCharacters ? lineOf(element, selectorOf(element)) : "";
      lines.set(element, line);
      length += line.length + 1;
    }
  }
  const shown = [...inside].flatMap((element) => lines.get(element) || []);
  const left = lines.size - shown.length;
  const more = `${left} elements are left out: outline again with a selector from here`;
  return { etag: page.etag, outline: shown.join("\n"), ...(left > 0 && { more }) };
}

function requireMatches({ matches }: InspectedPage): void {
  if (matches.length === 0) throw new HttpError(416, "NO_MATCH", "Nothing matches the selector.");
}

function lineOf(element: SourceElement, selector: string): string {
  const { name } = element;
  const span = elementSpan(element);
  const item = items[name];
  const parts = [
    selector,
    selector.startsWith("#") && name,
    /^(?:h[1-6]|title)$/.test(name) && JSON.stringify(shortText(element)),
    item && `${[...elementsBelow(element)].filter((each) => each.name === item).length} ${item}`,
    span && `(${span.end - span.start})`,
  ];
  return parts.filter(Boolean).join(" ");
}

function shortText(element: SourceElement): string {
  const text = plainText(element);
  return text.length <= textCharacters ? text : `${text.slice(0, textCharacters)}…`;
}

function plainText(element: SourceElement): string {
  return textContent(element).replace(/\s+/g, " ").trim();
}

/** The elements that a request selects and the client may read, from one of them on, as far as they fit. */
export async function elementsOf(page: InspectedPage, from: number, mostCharacters: number): Promise<object> {
  requireMatches(page);
  const selectorOf = selectorsIn(page);
  const readable = await readableOf(page, page.matches);
  const elements: object[] = [];
  let left = mostCharacters;
  let next = from;
  for (const element of readable.slice(from)) {
    const html = await inSlices(joined(outerHtmlParts(page.document, element)));
    const excess = html.length - left;
    if (excess > 0 && next > from) break;
    const told = { selector: selectorOf(element), etag: await page.tagOf([element]), html: html.slice(0, left) };
    elements.push({ ...told, ...(excess > 0 && { cut: `${excess} characters are left out` }) });
    left = Math.max(0, -excess);
    next += 1;
  }
  return { etag: page.etag, matches: readable.length, elements, ...(next < readable.length && { next }) };
}

async function readableOf(page: InspectedPage, elements: readonly SourceElement[]): Promise<readonly SourceElement[]> {
  const readable: SourceElement[] = [];
  for (const element of elements) if (await page.mayRead(element)) readable.push(element);
  return readable;
}

/** Where a text stands, or which of the selected elements hold it: the innermost elements, the first few of them. */
export async function findIn(page: InspectedPage, text: string | undefined, most: number): Promise<object[]> {
  const selectorOf = selectorsIn(page);
  const wanted = text?.replace(/\s+/g, " ").trim().toLowerCase() ?? "";
  const holds = (element: SourceElement): boolean => plainText(element).toLowerCase().includes(wanted);
  const found: object[] = [];
  for (const match of page.matches) {
    if (found.length === most) break;
    if (!holds(match)) continue;
    let inner = match;
    if (wanted !== "") for (const each of elementsBelow(match)) if (each.parent === inner && holds(each)) inner = each;
    if (await page.mayRead(inner)) found.push({ selector: selectorOf(inner), text: shortText(inner) });
  }
  return found;
}

/** What is there now for a selector: how many elements it selects, or selectors near it that do select some. */
export async function nearestTo(page: InspectedPage, selector: string): Promise<object> {
  const countOf = async (elements: readonly SourceElement[]) => (await readableOf(page, elements.slice(0, 100))).length;
  const { etag } = page;
  const matches = await countOf(page.matches);
  if (matches > 0) {
    const isAll = matches === page.matches.length;
    return { etag, matches, ...(isAll && { elementTag: await page.tagOf(page.matches) }) };
  }
  const near: object[] = [];
  for (const each of likelyIn(page, selector)) {
    const count = await countOf(await page.find(each));
    if (count > 0) near.push({ selector: each, matches: count });
    if (near.length === 3) break;
  }
  return { etag, matches, near };
}

const plainName = /^[a-z_][\w-]*$/i;

/** Elements by name, id and class that are spelled as parts of a selector are, or nearly. */
function likelyIn({ document }: InspectedPage, selector: string): ReadonlySet<string> {
  const known = new Map<string, string>();
  for (const { name, attribs } of elementsBelow(document.root)) {
    known.set(name, name);
    for (const each of attribs["class"]?.split(/\s+/) ?? []) known.set(each, `.${each}`);
    if (attribs["id"]) known.set(attribs["id"], `#${attribs["id"]}`);
  }
  const names = [...known.keys()].filter((name) => plainName.test(name));
  const parts = selector.match(/[a-z_][\w-]*/gi) ?? [];
  return new Set(parts.flatMap((part) => known.get(likeliest(part, names) ?? "") ?? []));
}

/**
 * Gives each element a selector that selects it and no other: `#id` where that is unique, otherwise the way from the
 * nearest element that has such an id. The ids of elements around are told only to those who may read all of the page.
 */
export function selectorsIn({
  document: { root },
  isReadable,
}: Pick<InspectedPage, "document" | "isReadable">): (element: SourceElement) => string {
  const counts = new Map<string, number>();
  for (const { attribs } of elementsBelow(root)) {
    const id = attribs["id"];
    if (id && plainName.test(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return (element) => {
    const steps: string[] = [];
    for (let each: TreeParent | null = element; each instanceof SourceElement; each = each.parent) {
      const id = each.attribs["id"] ?? "";
      const isKnownById = counts.get(id) === 1 && (each === element || isReadable);
      steps.unshift(isKnownById ? `#${id}` : stepTo(each));
      if (isKnownById) break;
    }
    return steps.join(" > ");
  };
}

/** `li:nth-child(3)`; an element that is the only one of its name needs no number. */
function stepTo(element: SourceElement): string {
  const { name, parent } = element;
  const siblings = (parent?.children ?? []).filter((each) => each instanceof SourceElement);
  const type = plainName.test(name) ? name : ""; // the others cannot stand in a selector as they are
  const isOnly = type !== "" && siblings.filter((each) => each.name === name).length === 1;
  return isOnly ? type : `${type}:nth-child(${siblings.indexOf(element) + 1})`;
}
