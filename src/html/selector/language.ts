import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import { svgNamespace } from "../document/html-names.ts";
import { isHtmlElement, type SourceElement } from "../document/html-nodes.ts";
import type { DocumentKind } from "../document/source-document.ts";
import { asciiLowerCase } from "../tokenizer/text.ts";
import { asciiKeyword, stepsToRead } from "./attribute-selector.ts";
import { type ElementList, type MatchContext, where } from "./match-context.ts";
import type { LanguageRange } from "./selector-tree.ts";
import { parentElement } from "./tree-steps.ts";

/** Those of some elements whose language is in one of the ranges of `:lang()`. */
export function* inLanguages(
  elements: ElementList,
  ranges: readonly LanguageRange[],
  context: MatchContext,
): SlicedWork<ElementList> {
  const { steps } = context;
  const ofPage = yield* languageOfPage(context);
  const known = new Map<SourceElement, string>();
  const isMeant = (element: SourceElement): boolean => {
    const language = languageOf(element, known, context) ?? ofPage;
    steps.spend(stepsToRead(language) * (1 + ranges.length));
    return matchesLanguage(language, ranges);
  };
  return yield* where(elements, isMeant, steps);
}

/** The language that an element says, or inherits (HTML Standard, 3.2.6.2). */
function languageOf(
  element: SourceElement,
  known: Map<SourceElement, string>,
  { kind, steps }: MatchContext,
): string | undefined {
  const inheriting: SourceElement[] = [];
  let language: string | undefined;
  for (let current: SourceElement | null = element; current; current = parentElement(current)) {
    steps.spend();
    language = known.get(current) ?? ownLanguage(current, kind);
    if (language !== undefined) break;
    inheriting.push(current);
  }
  if (language !== undefined) for (const heir of inheriting) known.set(heir, language);
  return language;
}

/** Whether a language is in a range of `:lang()`: equal, or longer by a `-`; wildcards as in RFC 4647, §3.3.2. */
function matchesLanguage(language: string, ranges: readonly LanguageRange[]): boolean {
  const tag = asciiLowerCase(language);
  return ranges.some(({ range: written, hasWildcards }) => {
    const range = asciiLowerCase(written);
    if (range === "" || tag === "") return range === tag;
    return hasWildcards ? isInRange(tag.split("-"), range.split("-")) : `${tag}-`.startsWith(`${range}-`);
  });
}

function ownLanguage(element: SourceElement, kind: DocumentKind): string | undefined {
  const { attribs } = element;
  // In HTML elements of HTML documents `xml:lang` is an attribute without a namespace.
  const xmlLang = kind === "xml" || !isHtmlElement(element) ? attribs["xml:lang"] : undefined;
  const hasLang = isHtmlElement(element) || element.namespace === svgNamespace;
  return xmlLang ?? (hasLang ? attribs["lang"] : undefined);
}

/** What `<meta http-equiv=content-language>` says. */
function* languageOfPage({ kind, index, steps }: MatchContext): SlicedWork<string> {
  let language = "";
  for (const meta of kind === "xml" ? [] : yield* index.with("type", "meta")) {
    steps.spend();
    if (steps.isSliceOver()) yield;
    if (!isHtmlElement(meta) || asciiKeyword(meta.attribs["http-equiv"]) !== "content-language") continue;
    language = meta.attribs["content"] ?? language;
  }
  return language;
}

function isInRange(tag: readonly string[], [first, ...range]: readonly string[]): boolean {
  if (first !== "*" && first !== tag[0]) return false;
  let position = 1;
  for (const part of range) {
    if (part === "*") continue;
    while (position < tag.length && tag[position] !== part) {
      // A single letter begins an extension, which is not skipped.
      if (tag[position]?.length === 1) return false;
      position += 1;
    }
    if (position >= tag.length) return false;
    position += 1;
  }
  return true;
}
