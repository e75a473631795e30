import { isUint8Array } from "node:util/types";
import { atOnce, inSlices, type SlicedWork } from "../event-loop/sliced-work.ts";
import { elementSpan } from "./document/element-span.ts";
import { type SourceElement, textContent } from "./document/html-nodes.ts";
import { parseDocument, parseSource } from "./document/parse-document.ts";
import { joined, outerHtmlParts } from "./document/serialise.ts";
import { documentBytes, type SourceDocument } from "./document/source-document.ts";
import { DocumentError } from "./document-error.ts";
import { placedElements } from "./edit/apply-edit.ts";
import { applyEdits, type MadeEdit } from "./edit/apply-edits.ts";
import type { Edit } from "./edit/edits.ts";
import { checkEdits } from "./edit/operations.ts";
import { outermost } from "./edit/placement.ts";
import { compileSelector, selection } from "./selector/select.ts";

export { DocumentError, type DocumentErrorCode } from "./document-error.ts";
export type { Edit, InsertPosition } from "./edit/edits.ts";

/** What a page may cost; beyond, a {@link DocumentError} says which of these it is about. */
export interface PageLimits {
  /** How many elements may be open at once. @default 512 */
  readonly maxDepth?: number;
  /** The most work that parsing may be, in steps: about one for each character. @default 268435456 (256 Mi) */
  readonly maxParseSteps?: number;
  /** Most characters that an edited page may have. @default 134217728 (128 Mi) */
  readonly maxLength?: number;
  /** Elements that a selector, and all selectors of a list together, may look at. @default 20000000 */
  readonly maxSelectionSteps?: number;
  /** Most elements that a selector may match. @default 10000 */
  readonly maxMatches?: number;
  /** Most edits of a list. @default 1000 */
  readonly maxEdits?: number;
}

/** Options for {@link parsePage}. */
export interface PageOptions {
  /** The language of the page: `"html"`, or `"xml"` for XML, XHTML and SVG files. @default "html" */
  readonly kind?: "html" | "xml";
  /** What the page may cost. @default as each says */
  readonly limits?: PageLimits;
}

/** What became of one edit. */
export interface EditResult {
  /** How many elements it was about. */
  readonly matches: number;
  /** Their outer HTML before it; of those that nest, the outermost. */
  readonly before: readonly string[];
  /** What stands there after it: the changed elements, what replaced them, or what they were moved to. */
  readonly after: readonly string[];
  /** Its changes of the source, which make the new one when they are made one after the other. */
  readonly changes: readonly SourceEdit[];
}

/** Characters from `start` to `end` of a source that gave way to `text`. */
export interface SourceEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Parses a page as browsers do. Bytes that are not UTF-8 stay what they are. Throws a {@link DocumentError}: beyond the
 * limits, and for XML that is not well-formed; and a `TypeError` for what is not a page.
 *
 * @example
 * const page = parsePage("<ul><li>a<li>b</ul>");
 * page.edit([{ op: "insert", selector: "ul", position: "beforeend", html: "<li>c" }]);
 */
export function parsePage(source: string | Uint8Array, options: PageOptions = {}): Page {
  return atOnce(parsedPage(source, options));
}

/**
 * As {@link parsePage}, for large pages in a program that has other things to do: parsing, selecting and editing give
 * way to them every few milliseconds. Rejects where `parsePage` throws.
 */
export async function parsePageInSlices(source: string | Uint8Array, options: PageOptions = {}): Promise<PageInSlices> {
  return new SlicedPage(await inSlices(parsedPage(source, options)));
}

/** A page that is read and edited; an edit leaves every byte that it is not about as it is. */
export interface Page {
  /** The characters of the page, without a byte order mark. */
  readonly source: string;
  /** The file; of a page that was not edited, its own bytes. */
  toBytes(): Uint8Array;
  /** The elements that a CSS selector selects, in the order of the page. Throws a {@link DocumentError}. */
  select(selector: string): readonly PageElement[];
  /**
   * Makes all edits of a list, each in the page as those before have left it, or nothing: then it throws a {@link
   * DocumentError} with the `index` of the edit. Elements selected before cannot be used any more.
   */
  edit(edits: readonly Edit[]): readonly EditResult[];
}

/** A {@link Page} whose methods return promises. What is asked for while another call is under way is done after it. */
export interface PageInSlices {
  /** As {@link Page.source}; during an edit, as it was before. */
  readonly source: string;
  /** As {@link Page.toBytes}; during an edit, as it was before. */
  toBytes(): Uint8Array;
  /** As {@link Page.select}. */
  select(selector: string): Promise<readonly PageElement[]>;
  /** As {@link Page.edit}. */
  edit(edits: readonly Edit[]): Promise<readonly EditResult[]>;
}

/** An element of a page, until the page is edited: then its members throw. */
export interface PageElement {
  /** Of an HTML element, in lower case. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** The text in it, as `textContent`. */
  readonly text: string;
  /** As it stands in the source, where it does. */
  readonly outerHtml: string;
  /** Where it begins in the source; `undefined` for an element without characters, such as an implied `tbody`. */
  readonly start: number | undefined;
  /** Where it ends: the offset behind its last character. */
  readonly end: number | undefined;
}

const defaultMaxLength = 128 * 1024 * 1024;

class ParsedPage implements Page {
  readonly #limits: PageLimits & { readonly maxLength: number };
  #document: SourceDocument;
  /** Counts calls of {@link edit}. */
  #version = 0;

  constructor(document: SourceDocument, limits: PageLimits) {
    this.#document = document;
    this.#limits = { maxLength: defaultMaxLength, ...limits };
  }

  get source(): string {
    return this.#document.source;
  }

  toBytes(): Uint8Array {
    return documentBytes(this.#document);
  }

  select(selector: string): readonly PageElement[] {
    return atOnce(this.selecting(selector));
  }

  edit(edits: readonly Edit[]): readonly EditResult[] {
    return atOnce(this.editing(edits));
  }

  *selecting(selector: string): SlicedWork<readonly PageElement[]> {
    if (typeof selector !== "string") throw new TypeError("a selector: expected a string");
    const document = this.#document;
    const version = this.#version;
    const current = (): SourceDocument => {
      if (version === this.#version) return document;
      throw new TypeError("the page was edited after this element was selected; select it again");
    };
    const elements = yield* selection(document, compileSelector(selector), this.#limits);
    return elements.map((element) => new SelectedElement(element, current));
  }

  *editing(edits: readonly Edit[]): SlicedWork<readonly EditResult[]> {
    const before = this.#document;
    const work = { steps: 0 };
    const limits = { ...this.#limits, work: { steps: 0 } };
    const results: EditResult[] = [];
    let isTaken = false;
    const list = checkEdits(edits, limits.maxEdits);
    this.#version += 1;
    try {
      const made = yield* applyEdits(before, list, {
        limits,
        select: (document, selector) => selection(document, compileSelector(selector), { ...this.#limits, work }),
        *outerHtml(document, elements) {
          return (yield* htmlOf(document, elements)).join("");
        },
        tagOf() {
          throw new DocumentError("INVALID_EDIT", "Only servers know the entity tags of elements.");
        },
        begin: ({ document, matches }) => htmlOf(document, matches),
        *end(made, html) {
          results.push(yield* resultOf(made, html));
        },
        takeTree(document) {
          isTaken ||= document === before;
          return true;
        },
      });
      this.#document = made.document;
    } catch (error) {
      if (isTaken) this.#document = yield* parseSource(before.source, before, this.#limits);
      throw error;
    }
    return results;
  }
}

/** Does one call after the other, each in slices. */
class SlicedPage implements PageInSlices {
  readonly #page: ParsedPage;
  #last: Promise<unknown> = Promise.resolve();

  constructor(page: ParsedPage) {
    this.#page = page;
  }

  get source(): string {
    return this.#page.source;
  }

  toBytes(): Uint8Array {
    return this.#page.toBytes();
  }

  select(selector: string): Promise<readonly PageElement[]> {
    return this.#next(() => this.#page.selecting(selector));
  }

  edit(edits: readonly Edit[]): Promise<readonly EditResult[]> {
    return this.#next(() => this.#page.editing(edits));
  }

  #next<Value>(begin: () => SlicedWork<Value>): Promise<Value> {
    const result = this.#last.then(() => inSlices(begin()));
    this.#last = result.catch(() => {}); // the caller has the error
    return result;
  }
}

function* parsedPage(source: string | Uint8Array, { kind = "html", limits = {} }: PageOptions): SlicedWork<ParsedPage> {
  const isContent = typeof source === "string" || isUint8Array(source);
  if (!isContent) throw new TypeError("the source of a page: expected a string or a Uint8Array");
  if (kind !== "html" && kind !== "xml") throw new TypeError('the kind of a page: expected "html" or "xml"');
  if (typeof source !== "string") return new ParsedPage(yield* parseDocument(kind, source, limits), limits);
  const hasByteOrderMark = source.startsWith("\ufeff");
  const text = hasByteOrderMark ? source.slice(1) : source;
  return new ParsedPage(yield* parseSource(text, { encoding: "utf8", hasByteOrderMark, kind }, limits), limits);
}

class SelectedElement implements PageElement {
  readonly #element: SourceElement;
  readonly #current: () => SourceDocument;

  /** `current` gives the page, or throws where it has been edited. */
  constructor(element: SourceElement, current: () => SourceDocument) {
    this.#element = element;
    this.#current = current;
  }

  get name(): string {
    return this.#read().name;
  }

  get attributes(): Readonly<Record<string, string>> {
    return { ...this.#read().attribs };
  }

  get text(): string {
    return textContent(this.#read());
  }

  get outerHtml(): string {
    return [...outerHtmlParts(this.#current(), this.#element)].join("");
  }

  get start(): number | undefined {
    return elementSpan(this.#read())?.start;
  }

  get end(): number | undefined {
    return elementSpan(this.#read())?.end;
  }

  #read(): SourceElement {
    this.#current();
    return this.#element;
  }
}

function* htmlOf(document: SourceDocument, elements: readonly SourceElement[]): SlicedWork<readonly string[]> {
  const texts: string[] = [];
  for (const element of outermost(elements)) texts.push(yield* joined(outerHtmlParts(document, element)));
  return texts;
}

function* resultOf({ document, matches, changes }: MadeEdit, before: readonly string[]): SlicedWork<EditResult> {
  const last = changes.at(-1);
  const after = last ? yield* htmlOf(last.document, yield* placedElements(last)) : before;
  const sources = [document, ...changes.map((change) => change.document)].map(({ source }) => source);
  const edits = changes.flatMap(({ placements, isNormalised }, index): SourceEdit[] => {
    if (isNormalised) return [{ start: 0, end: sources[index]?.length ?? 0, text: sources[index + 1] ?? "" }];
    return placements.map(({ start, end, text }) => ({ start, end, text })).reverse();
  });
  return { matches: matches.length, before, after, changes: edits };
}
