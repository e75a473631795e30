import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { foreignAttributeName } from "../document/html-names.ts";
import { isHtmlElement, type SourceElement } from "../document/html-nodes.ts";
import { replaced } from "../document/serialise.ts";
import type { SourceDocument } from "../document/source-document.ts";
import { DocumentError } from "../document-error.ts";
import { AttributeScanner, endOfTagName } from "../tokenizer/attributes.ts";
import { asciiLowerCase } from "../tokenizer/text.ts";
import { type Placement, refuseTooLong } from "./placement.ts";

/** What the HTML Standard lets be a name (13.1.2.3), and XML does besides its own rules. */
const attributeName = /^[^\s"'<>/=\x00-\x1f\x7f]+$/;
const xmlName = /^[\p{L}_:][\p{L}\p{N}_:.\-\u00b7]*$/u;

const safeUnquoted = /^[^\s"'=<>`&/]+$/;

interface AttributeChange {
  readonly name: string;
  readonly valueFor: (element: SourceElement) => string | undefined;
  /** Of the document afterwards. */
  readonly maxLength: number;
}

/**
 * The changes of start tags that give an attribute of elements another value, or take it away where that is
 * `undefined`; all other bytes of the tags stay. `undefined` where an element has no start tag.
 */
export function* attributeChanges(
  document: SourceDocument,
  elements: readonly SourceElement[],
  { name, valueFor, maxLength }: AttributeChange,
): SlicedWork<readonly Placement[] | undefined> {
  if (!(document.kind === "xml" ? xmlName : attributeName).test(name)) {
    throw new DocumentError("INVALID_EDIT", `${JSON.stringify(name.slice(0, 40))} is not an attribute name.`);
  }
  const placements: Placement[] = [];
  let length = document.source.length;
  for (const element of elements) {
    yield;
    const key = nameIn(document, element, name);
    const value = valueFor(element);
    if (element.attribs[key] === value) continue;
    if (element.startIndex === null || element.contentStart === -1) return undefined;
    const change =
      value === undefined
        ? removal(document, element, key)
        : yield* assignment(document, element, { name, key, value });
    if (!change) return undefined; // another tag has given it to `html` or `body`
    length += change.text.length - (change.end - change.start);
    if (value !== undefined) refuseTooLong(length, maxLength);
    const { [key]: _, ...others } = element.attribs;
    const attributes = value === undefined ? others : { ...others, [key]: value };
    placements.push({ ...change, tags: { element, attributes } });
  }
  return placements.sort((a, b) => a.start - b.start);
}

/** The name under which the tree has an attribute. */
function nameIn({ kind }: Pick<SourceDocument, "kind">, element: SourceElement, name: string): string {
  if (kind === "xml") return name;
  const lower = asciiLowerCase(name);
  return isHtmlElement(element) ? lower : foreignAttributeName(lower);
}

type Change = Pick<Placement, "start" | "end" | "text">;

function* assignment(
  document: SourceDocument,
  element: SourceElement,
  { name, key, value }: { readonly name: string; readonly key: string; readonly value: string },
): SlicedWork<Change> {
  const { source } = document;
  const scanner = scannerOf(document, element);
  let end = scanner.position;
  while (scanner.next()) {
    end = endOf(scanner);
    if (nameIn(document, element, source.slice(scanner.nameStart, scanner.nameEnd)) !== key) continue;
    const { nameEnd, valueStart, valueEnd } = scanner;
    if (valueStart === 0) return { start: nameEnd, end: nameEnd, text: `="${yield* escaped(document, value, '"')}"` };
    const quote = source[valueStart - 1] ?? "";
    if (quote === '"' || quote === "'")
      return yield* lessChanged(document, element.attribs[key] ?? "", value, quote, scanner);
    const isSafe = safeUnquoted.test(value) && valueEnd > valueStart;
    return { start: valueStart, end: valueEnd, text: isSafe ? value : `"${yield* escaped(document, value, '"')}"` };
  }
  return { start: end, end, text: ` ${name}="${yield* escaped(document, value, '"')}"` };
}

/** Of a value that is written as it reads, what both have at the beginning and at the end stays. */
function* lessChanged(
  document: SourceDocument,
  old: string,
  value: string,
  quote: string,
  { valueStart: start, valueEnd: end }: AttributeScanner,
): SlicedWork<Change> {
  if (document.source.slice(start, end) !== old) return { start, end, text: yield* escaped(document, value, quote) };
  const shorter = Math.min(old.length, value.length);
  let first = 0;
  while (first < shorter && old[first] === value[first]) first += 1;
  let last = 0;
  while (last < shorter - first && old.at(-1 - last) === value.at(-1 - last)) last += 1;
  const text = yield* escaped(document, value.slice(first, value.length - last), quote);
  return { start: start + first, end: end - last, text };
}

/** Takes an attribute away with the white space before it; if several have its name, all of them. */
function removal(document: SourceDocument, element: SourceElement, key: string): Change | undefined {
  const { source } = document;
  const scanner = scannerOf(document, element);
  const parts: string[] = [];
  let start = -1;
  let behind = scanner.position;
  for (let before = behind; scanner.next(); before = endOf(scanner)) {
    const isMeant = nameIn(document, element, source.slice(scanner.nameStart, scanner.nameEnd)) === key;
    if (isMeant && start === -1) start = behind = before;
    if (!isMeant || start === -1) continue;
    parts.push(source.slice(behind, before));
    behind = endOf(scanner);
    if (!/[\s/>]/.test(source[behind] ?? "")) parts.push(" "); // `a="1"b="2"`
  }
  return start === -1 ? undefined : { start, end: behind, text: parts.join("") };
}

/** Where an attribute ends: behind one without a value, the scanner has passed the blanks. */
function endOf({ valueStart, nameEnd, position }: AttributeScanner): number {
  return valueStart === 0 ? nameEnd : position;
}

function scannerOf({ source }: SourceDocument, { startIndex }: SourceElement): AttributeScanner {
  const scanner = new AttributeScanner(source);
  scanner.begin(endOfTagName(source, startIndex ?? 0));
  return scanner;
}

const references: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  '"': "&quot;",
  "'": "&#39;",
  "\r": "&#13;",
  "\n": "&#10;",
  "\t": "&#9;",
};

function escaped({ kind }: SourceDocument, value: string, quote: string): SlicedWork<string> {
  const special = kind === "xml" ? /[&<"'\r\n\t]/g : /[&"'\r]/g;
  return replaced(value, special, (found) => (found === otherQuote[quote] ? found : (references[found] ?? found)));
}

const otherQuote: Readonly<Record<string, string>> = { '"': "'", "'": '"' };
