import type { ElementRequest } from "../files/file-request.ts";
import { HttpError } from "../http-error.ts";
import type { Reply } from "../reply.ts";
import { type EditedElements, editElements } from "./edit-elements.ts";
import { elementBytes, elementHeaders, noMatchReply } from "./element-reply.ts";
import { isTagOnly } from "./element-span.ts";
import type { Placement } from "./fits-in-place.ts";
import { type HtmlDocument, isHtmlElement, nextNode, requireEncodable } from "./html-document.ts";
import { SourceElement, TemplateElement } from "./html-nodes.ts";
import { insertionPoint } from "./insertion-point.ts";
import { pageElements } from "./page-elements.ts";
import { shiftOffset } from "./splice.ts";
import { endTagsAt, firstTagOf } from "./unclosed-tail.ts";
import { decodeHtml, type Fragment, fragmentsOf, holdsText, invalidHtml } from "./well-formed.ts";

/** POST to elements: the content of the request is added inside of every match, after its last child (206). */
export async function appendToElements(request: ElementRequest): Promise<Reply> {
  const edited = await editElements(request, async () => {
    const html = decodeHtml(await request.exchange.body.bytes());
    return {
      kind: "elements-appended",
      html,
      replacements: (document, matches) => insertions(document, matches, html),
    };
  });
  if (!edited) return noMatchReply();
  const body = elementBytes(edited.document, updatedElements(edited));
  return { status: 206, headers: elementHeaders(request, edited.matches.length), body };
}

function insertions(document: HtmlDocument, matches: readonly SourceElement[], html: string): readonly Placement[] {
  requireEncodable(document, html);
  const fragmentIn = fragmentsOf(html);
  const found = matches.map((element): Placement => {
    if (isHtmlElement(element) && holdsText(element.name)) return textInsertion(document, element, html);
    return insertion(document, element, fragmentIn(element));
  });
  // Of elements that end at one place the inner one, which comes later in the document, gets its content first.
  return found.reverse().sort((a, b) => a.start - b.start);
}

function insertion(document: HtmlDocument, element: SourceElement, fragment: Fragment): Placement {
  if (isTagOnly(element)) return openedTag(document, element, fragment);
  const point = requirePoint(document, element);
  const parent = parentOfAddition(document, element);
  const container = element instanceof TemplateElement ? element.content : element;
  const endTags = endTagsAt(container.children.at(-1), point, firstTagOf(fragment));
  const text = endTags + fragment.html;
  return { start: point, end: point, text, fragment, fragmentStart: endTags.length, parent };
}

/** `<circle/>` becomes `<circle>...</circle>`; an HTML element of a start tag only cannot have content. */
function openedTag({ source }: HtmlDocument, element: SourceElement, fragment: Fragment): Placement {
  const { name, contentStart } = element;
  if (isHtmlElement(element)) throw invalidHtml(`a <${name}> cannot have content`, 1, 1);
  const start = source.lastIndexOf("/", contentStart);
  const text = `>${fragment.html}</${name}>`;
  return { start, end: contentStart, text, fragment, fragmentStart: 1, parent: element };
}

/** Inside of `script`, `style`, `title` and `textarea` there is text; its own end tag would cut it off. */
function textInsertion(document: HtmlDocument, element: SourceElement, text: string): Placement {
  const end = new RegExp(`</${element.name}[\\s/>]`, "i").exec(`${text}>`);
  if (end) {
    const lines = text.slice(0, end.index).split("\n");
    const column = (lines.at(-1)?.length ?? 0) + 1;
    throw invalidHtml(`it would end the <${element.name}> early`, lines.length, column);
  }
  const point = requirePoint(document, element);
  return { start: point, end: point, text };
}

function requirePoint(document: HtmlDocument, element: SourceElement): number {
  const point = insertionPoint(document, element);
  if (point !== undefined) return point;
  const details = `This <${element.name}> has no end of its own in the file: it is implied, or markup around it is broken.`;
  throw new HttpError(400, "INVALID_TARGET", details);
}

function parentOfAddition({ root }: HtmlDocument, element: SourceElement): SourceElement {
  const { html, body } = pageElements(root);
  return element === html && body ? body : element;
}

/** The matches in the tree of the new document, found by where they begin. */
function updatedElements({ document, matches, replacements }: EditedElements): SourceElement[] {
  const starts = new Set<number>();
  const implied = new Set<string>();
  for (const { startIndex, name } of matches) {
    if (startIndex === null) implied.add(name);
    else starts.add(shiftOffset(startIndex, replacements));
  }
  const page: readonly SourceElement[] = Object.values(pageElements(document.root));
  const elements: SourceElement[] = [];
  for (let node = nextNode(document.root, document.root); node; node = nextNode(node, document.root)) {
    if (!(node instanceof SourceElement)) continue;
    const isUpdated =
      node.startIndex === null ? implied.has(node.name) && page.includes(node) : starts.has(node.startIndex);
    if (isUpdated) elements.push(node);
  }
  return elements;
}
