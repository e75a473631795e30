import { textContent } from "domutils";
import { inSlices } from "../../event-loop/sliced-work.ts";
import { elementSpan, joined, outerHtmlParts, type SourceElement } from "../../html/engine.ts";
import { likeliest } from "../../options/schema.ts";
import type { InspectedPage } from "../../server/inspection.ts";
import { elementsBelow, type SelectorOf, selectorsIn } from "./element-selector.ts";

/** About 1,800 tokens of markup-like text. */
const outlineCharacters = 5_400;
const textCharacters = 60;

/** Names of elements by how soon they are left out of an outline that gets too long: the last first. */
const ranks: readonly ReadonlySet<string>[] = [
  new Set(["title", "h1", "main", "nav", "form"]),
  new Set(["h2", "header", "footer", "aside", "article", "section", "table", "dialog", "search"]),
  new Set(["h3", "ul", "ol", "dl", "select", "fieldset"]),
  new Set(["h4", "h5", "h6"]),
];
const items: Readonly<Record<string, string>> = { ul: "li", ol: "li", dl: "dt", select: "option", table: "tr" };

/** Headings, landmarks, forms, lists, tables and elements with ids, one a line, below the elements that a request selects. */
export async function outlineOf(page: InspectedPage): Promise<object> {
  const selectorOf = selectorsIn(page.document.root, page.isReadable);
  const found: { readonly rank: number; readonly line: string }[] = [];
  for (const top of page.matches) {
    for (const element of [top, ...elementsBelow(top)]) {
      const rank = rankOf(element);
      if (rank === undefined || !(await page.mayRead(element))) continue;
      found.push({ rank, line: lineOf(element, selectorOf) });
      if (found.length === 5000) break;
    }
  }
  const kept = new Set<object>();
  let length = 0;
  for (const each of [...found].sort((one, other) => one.rank - other.rank)) {
    length += each.line.length + 1;
    if (length > outlineCharacters) break;
    kept.add(each);
  }
  const shown = found.filter((each) => kept.has(each));
  const left = found.length - shown.length;
  return {
    etag: page.etag,
    outline: shown.map(({ line }) => line).join("\n"),
    ...(left > 0 && { more: `${left} elements are left out: outline again with a selector from here` }),
  };
}

function rankOf({ name, attribs }: SourceElement): number | undefined {
  const rank = ranks.findIndex((names) => names.has(name));
  if (rank !== -1) return attribs["id"] && rank > 1 ? 1 : rank;
  if (attribs["role"]) return 1;
  return attribs["id"] ? ranks.length : undefined;
}

function lineOf(element: SourceElement, selectorOf: SelectorOf): string {
  const { name } = element;
  const selector = selectorOf(element);
  const span = elementSpan(element);
  const heading = /^(?:h[1-6]|title)$/.test(name) ? ` ${JSON.stringify(shortText(element))}` : "";
  const item = items[name];
  const rows = item ? [...elementsBelow(element)].filter((each) => each.name === item).length : 0;
  const kind = selector.startsWith("#") ? ` ${name}` : "";
  return `${selector}${kind}${heading}${item ? ` ${rows} ${item}` : ""}${span ? ` (${span.end - span.start})` : ""}`;
}

function shortText(element: SourceElement): string {
  const text = textContent(element).replace(/\s+/g, " ").trim();
  return text.length <= textCharacters ? text : `${text.slice(0, textCharacters)}…`;
}

/** The elements that a request selects and the client may read, from one of them on, as far as they fit. */
export async function elementsOf(page: InspectedPage, from: number, mostCharacters: number): Promise<object> {
  const selectorOf = selectorsIn(page.document.root, page.isReadable);
  const elements: object[] = [];
  let length = 0;
  let readable = 0;
  let next: number | undefined;
  for (const element of page.matches) {
    if (!(await page.mayRead(element))) continue;
    readable += 1;
    if (readable <= from || next !== undefined) continue;
    const html = await inSlices(joined(outerHtmlParts(page.document, element)));
    const rest = mostCharacters - length;
    if (html.length > rest && elements.length > 0) {
      next = readable - 1;
      continue;
    }
    length += html.length;
    const selector = selectorOf(element);
    const isCut = html.length > rest;
    const etag = await page.tagOf([element]);
    const left = { cut: `${html.length - rest} characters are left out: outline this selector, and read parts of it` };
    elements.push({ selector, etag, html: isCut ? html.slice(0, rest) : html, ...(isCut && left) });
  }
  return { etag: page.etag, matches: readable, elements, ...(next !== undefined && { next }) };
}

/** Where a text stands, or which of the selected elements hold it: the innermost elements, the first few of them. */
export async function findIn(page: InspectedPage, text: string | undefined, most: number): Promise<object[]> {
  const selectorOf = selectorsIn(page.document.root, page.isReadable);
  const wanted = text?.replace(/\s+/g, " ").trim().toLowerCase();
  const holds = (element: SourceElement): boolean =>
    wanted === undefined || textContent(element).replace(/\s+/g, " ").toLowerCase().includes(wanted);
  const found: object[] = [];
  for (const match of page.matches) {
    if (!holds(match)) continue;
    const element = wanted === undefined ? match : innermost(match, holds);
    if (!(await page.mayRead(element))) continue;
    found.push({ selector: selectorOf(element), text: shortText(element) });
    if (found.length === most) break;
  }
  return found;
}

function innermost(element: SourceElement, holds: (element: SourceElement) => boolean): SourceElement {
  let inner = element;
  for (const each of elementsBelow(element)) if (each.parent === inner && holds(each)) inner = each;
  return inner;
}

/** What is there now for a selector: how many elements it selects, or selectors near it that do select some. */
export async function nearestTo(page: InspectedPage, selector: string): Promise<object> {
  const readable = async (elements: readonly SourceElement[]): Promise<number> => {
    let count = 0;
    for (const element of elements.slice(0, 100)) if (await page.mayRead(element)) count += 1;
    return count;
  };
  const matches = await readable(page.matches);
  if (matches > 0) {
    const isAll = matches === page.matches.length;
    return { etag: page.etag, matches, ...(isAll && { elementTag: await page.tagOf(page.matches) }) };
  }
  const near: { selector: string; matches: number }[] = [];
  for (const each of new Set(likelyIn(page, selector))) {
    const count = await readable(await page.find(each));
    if (count > 0) near.push({ selector: each, matches: count });
    if (near.length === 3) break;
  }
  return { etag: page.etag, matches: 0, near };
}

/** Elements by name, id and class that are spelled as parts of a selector are, or nearly. */
function likelyIn({ document }: InspectedPage, selector: string): readonly string[] {
  const known = new Map<string, string>();
  for (const { name, attribs } of elementsBelow(document.root)) {
    const classes = (attribs["class"] ?? "").split(/\s+/).map((each) => `.${each}`);
    for (const each of [name, ...classes, `#${attribs["id"] ?? ""}`]) {
      if (/^[#.]?[a-z_][\w-]*$/i.test(each)) known.set(each.replace(/^[#.]/, ""), each);
    }
  }
  const names = [...known.keys()];
  return [...selector.matchAll(/[a-z_][\w-]*/gi)].flatMap(([name]) => known.get(likeliest(name, names) ?? "") ?? []);
}
