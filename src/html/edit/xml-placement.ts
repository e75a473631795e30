import { elementSpan, isTagOnly } from "../document/element-span.ts";
import { isHtmlElement, SourceElement } from "../document/html-nodes.ts";
import { requireEncodable, type SourceDocument } from "../document/source-document.ts";
import { voidElements } from "../document/tag-rules.ts";
import { DocumentError, invalidHtml } from "../document-error.ts";
import { type CheckReplacement, type DocumentLanguage, outermost, type Placement } from "./placement.ts";
import type { Fragment } from "./well-formed.ts";
import { parseXmlFragment } from "./xml-fragment.ts";

/** The rules of XML, where every element has a place of its own in the source, and its tags alone say where it ends. */
export const xmlLanguage: DocumentLanguage = {
  replace: replacements,
  append: insertions,
  remove: removals,
  permanentElements: (root) => root.children.filter((node) => node instanceof SourceElement),
  normalise: async () => undefined, // nothing is gained
};

async function replacements(
  document: SourceDocument,
  elements: readonly SourceElement[],
  xml: string,
  check: CheckReplacement,
): Promise<readonly Placement[]> {
  requireEncodable(document, xml);
  const placements: Placement[] = [];
  for (const element of outermost(elements)) {
    const fragment = await parseXmlFragment(xml, document, element.parent);
    if (isRootElement(element)) requireOneElement(fragment);
    check(element, fragment);
    placements.push({ ...placeOf(element), text: xml, fragment, removes: [element] });
  }
  return placements;
}

async function insertions(
  document: SourceDocument,
  elements: readonly SourceElement[],
  xml: string,
): Promise<readonly Placement[]> {
  requireEncodable(document, xml);
  const placements: Placement[] = [];
  for (const element of elements) {
    if (isHtmlElement(element) && voidElements.has(element.name)) {
      throw invalidHtml(`a <${element.name}> cannot have content`, 1, 1);
    }
    if (xml.trim() === "") continue;
    const fragment = await parseXmlFragment(xml, document, element);
    placements.push(isTagOnly(element) ? openedTag(document, element, fragment) : addition(element, fragment));
  }
  // Of elements that end at one place the inner one, which comes later in the document, gets its content first.
  return placements.reverse().sort((a, b) => a.start - b.start);
}

async function removals(_document: SourceDocument, elements: readonly SourceElement[]): Promise<readonly Placement[]> {
  return outermost(elements).map((element) => {
    if (isRootElement(element)) {
      throw new DocumentError("INVALID_TARGET", "Every document has a root element; it cannot be removed.");
    }
    return { ...placeOf(element), text: "", removes: [element] };
  });
}

function addition(element: SourceElement, fragment: Fragment): Placement {
  const { contentEnd } = element;
  return { start: contentEnd, end: contentEnd, text: fragment.html, fragment, appendsTo: element };
}

/** `<circle/>` becomes `<circle>...</circle>`. */
function openedTag({ source }: SourceDocument, element: SourceElement, fragment: Fragment): Placement {
  const { start, end } = placeOf(element);
  const slash = source.lastIndexOf("/", end);
  const [tagName = ""] = /[^\s/>]+/.exec(source.slice(start + 1, end)) ?? [];
  const text = `>${fragment.html}</${tagName}>`;
  return { start: slash, end, text, fragment, fragmentStart: 1, appendsTo: element };
}

function placeOf(element: SourceElement): { readonly start: number; readonly end: number } {
  const span = elementSpan(element);
  if (!span) throw new TypeError("an element of an XML document has no place in its source");
  return { start: span.start, end: span.end };
}

function isRootElement({ parent }: SourceElement): boolean {
  return parent?.type === "root" && parent.parent === null;
}

/** One root stays one root. */
function requireOneElement({ steps, tags: [first] }: Fragment): void {
  const isOne = steps.every(
    ({ kind, tag, data, parent }) =>
      parent !== undefined || tag === first || kind === "comment" || (kind === "text" && data.trim() === ""),
  );
  if (first && isOne) return;
  throw new DocumentError("INVALID_TARGET", "The root element can only be replaced by one element.");
}
