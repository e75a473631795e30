import { TimeSlice } from "../event-loop/sliced-work.ts";
import { isTagOnly } from "../html/document/element-span.ts";
import { isHtmlElement, SourceElement } from "../html/document/html-nodes.ts";
import { pageElements } from "../html/document/page.ts";
import { decodeHtml, requireEncodable, type SourceDocument } from "../html/document/source-document.ts";
import { firstLineAt, isClosedBy, voidElements } from "../html/document/tag-rules.ts";
import { contentOf } from "../html/document/tree-walk.ts";
import { invalidHtml } from "../html/document-error.ts";
import { endTagsAt, firstTagOf, insertionPoint, type Placement } from "../html/edit/placement.ts";
import { holdsText, parseRawText } from "../html/edit/raw-text.ts";
import { type Fragment, fragmentsOf } from "../html/edit/well-formed.ts";
import { placeXmlInside } from "../html/edit/xml-placement.ts";
import type { Reply } from "../server/reply.ts";
import { editElements } from "./edit-elements.ts";
import { dialects, elementBytes } from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";

/**
 * POST to elements: the content of the request is added inside of every match, after its last child (206). Blank content
 * adds nothing: nothing is written then.
 */
export function appendToElements(request: ElementRequest): Promise<Reply> {
  const { exchange, options, bodies } = request;
  return editElements(request, async () => {
    const supplied = await bodies.read(exchange, Math.min(options.maxDocumentSize, options.maxFileSize));
    const html = decodeHtml(supplied);
    return {
      kind: "appended",
      html,
      place: (document, matches) => (document.isXml ? placeXmlInside : insertions)(document, matches, html),
      content: async ({ document, elements }) =>
        dialects[options.dialect].appended(await elementBytes(document, elements, options), supplied),
    };
  });
}

async function insertions(
  document: SourceDocument,
  matches: readonly SourceElement[],
  html: string,
): Promise<readonly Placement[] | undefined> {
  requireEncodable(document, html);
  const fragmentIn = fragmentsOf(html);
  const placements: Placement[] = [];
  const slice = new TimeSlice();
  for (const element of matches) {
    if (slice.isOver) await slice.renew();
    refuseVoid(element);
    if (html.trim() === "") continue;
    const isText = isHtmlElement(element) && holdsText(element.name);
    const fragment = isText ? parseRawText(html, element.name) : await fragmentIn(element);
    const placement = isOpenable(element)
      ? openedTag(document, element, fragment)
      : insertion(document, element, fragment);
    if (!placement) return undefined;
    placements.push(placement);
  }
  // Of elements that end at one place the inner one, which comes later in the document, gets its content first.
  return placements.reverse().sort((a, b) => a.start - b.start);
}

function refuseVoid(element: SourceElement): void {
  const { name } = element;
  if (isHtmlElement(element) && voidElements.has(name)) throw invalidHtml(`a <${name}> cannot have content`, 1, 1);
}

function insertion(document: SourceDocument, element: SourceElement, fragment: Fragment): Placement | undefined {
  const point = insertionPoint(document, element);
  if (point === undefined) return undefined;
  const parent = parentOfAddition(document, element, fragment);
  const endTags = endTagsAt(contentOf(parent).at(-1), point, firstTagOf(fragment));
  const before = endTags + firstLineAt(parent, point, fragment.html);
  return {
    start: point,
    end: point,
    text: before + fragment.html,
    fragment,
    fragmentStart: before.length,
    appendsTo: parent,
  };
}

function isOpenable(element: SourceElement): boolean {
  return isTagOnly(element) && !isHtmlElement(element);
}

/** `<circle/>` becomes `<circle>...</circle>`. */
function openedTag({ source }: SourceDocument, element: SourceElement, fragment: Fragment): Placement {
  const { name, contentStart } = element;
  const start = source.lastIndexOf("/", contentStart);
  const text = `>${fragment.html}</${name}>`;
  return { start, end: contentStart, text, fragment, fragmentStart: 1, appendsTo: element };
}

/**
 * What is added to `html` goes to its `body`, and a row to the `tbody` that the parser has put around the rows before it,
 * which without tags of its own ends where the table ends.
 */
function parentOfAddition({ root }: SourceDocument, element: SourceElement, { tags: [tag] }: Fragment): SourceElement {
  const { html, body } = pageElements(root);
  if (element === html && body) return body;
  let parent = element;
  for (let last = contentOf(parent).at(-1); last instanceof SourceElement; last = contentOf(parent).at(-1)) {
    const isImplied = last.contentStart === -1 && ["tbody", "tr", "colgroup"].includes(last.name);
    if (!isImplied || (tag && isClosedBy(last.name, tag.name))) return parent;
    parent = last;
  }
  return parent;
}
