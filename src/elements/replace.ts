import { Buffer } from "node:buffer";
import { TimeSlice } from "../event-loop/sliced-work.ts";
import { elementSpan } from "../html/document/element-span.ts";
import { SourceElement } from "../html/document/html-nodes.ts";
import { pageElements } from "../html/document/page.ts";
import { decodeHtml, requireEncodable, type SourceDocument } from "../html/document/source-document.ts";
import { firstLineAt } from "../html/document/tag-rules.ts";
import { invalidHtml } from "../html/document-error.ts";
import { endTagsAt, firstTagOf, outermost, type Placement, previousOf } from "../html/edit/placement.ts";
import { type Fragment, fragmentsOf } from "../html/edit/well-formed.ts";
import { placeXmlInstead } from "../html/edit/xml-placement.ts";
import { HttpError } from "../http/http-error.ts";
import type { Reply } from "../server/reply.ts";
import { editElements } from "./edit-elements.ts";
import { type Dialect, dialects } from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";

/** That of HTML, which is less than what `trim` takes away. */
const whiteSpace: ReadonlySet<string> = new Set(["\t", "\n", "\f", "\r", " "]);

/** PUT of elements: every match, the outermost where they nest, gives way to the content of the request (206). */
export function replaceElements(request: ElementRequest): Promise<Reply> {
  const { exchange, options, bodies } = request;
  const dialect = dialects[options.dialect];
  return editElements(request, async () => {
    const sent = decodeHtml(await bodies.read(exchange, Math.min(options.maxDocumentSize, options.maxFileSize)));
    const html = withoutFinalLineBreak(sent);
    if (html.trim() === "") throw invalidHtml("it is empty; to remove elements, use DELETE", 1, 1);
    return {
      kind: "replaced",
      html,
      place: (document, matches) =>
        document.isXml
          ? placeXmlInstead(document, matches, html, dialect.checkReplacement)
          : replacements(document, matches, html, dialect),
      content: async ({ placements }) => Buffer.from(placements.map(({ fragment }) => fragment?.html ?? "").join("")),
    };
  });
}

/**
 * Without the line break that editors put behind the last tag. It would lie outside of the element, where no GET of the
 * element finds it again: each time that it is saved, the page would grow by one more.
 */
function withoutFinalLineBreak(html: string): string {
  let end = html.length;
  while (end > 0 && whiteSpace.has(html.charAt(end - 1))) end -= 1;
  const hasLineBreak = /[\n\r]/.test(html.slice(end));
  return hasLineBreak && html.charAt(end - 1) === ">" ? html.slice(0, end) : html;
}

async function replacements(
  document: SourceDocument,
  matches: readonly SourceElement[],
  html: string,
  dialect: Dialect,
): Promise<readonly Placement[] | undefined> {
  requireEncodable(document, html);
  const page = Object.values(pageElements(document.root));
  const fragmentIn = fragmentsOf(html);
  const elements = outermost(matches);
  const replaced = new Set<unknown>(elements);
  const placements: Placement[] = [];
  const slice = new TimeSlice();
  for (const element of elements) {
    if (slice.isOver) await slice.renew();
    const fragment = await fragmentIn(element.parent);
    if (page.includes(element)) requireSameElement(element, fragment);
    dialect.checkReplacement(element, fragment);
    const span = elementSpan(element);
    if (!span) return undefined;
    const { start, end } = span;
    const firstTag = firstTagOf(fragment);
    const previous = previousOf(element);
    // What is put in place of the element before leaves nothing open; and the same start tag closes what it closed so far.
    const isClosed = replaced.has(previous) || firstTag === element.name;
    const endTags = isClosed ? "" : endTagsAt(previous, start, firstTag);
    const line = element.parent instanceof SourceElement ? firstLineAt(element.parent, start, fragment.html) : "";
    const before = endTags + line;
    const text = before + fragment.html;
    placements.push({ start, end, text, fragment, fragmentStart: before.length, removes: [element] });
  }
  // Error recovery may order the document otherwise than the source.
  return placements.sort((a, b) => a.start - b.start);
}

/** `html`, `head` and `body` are on every page: each gives way to another one of its kind only. */
function requireSameElement({ name }: SourceElement, { html, tags, steps }: Fragment): void {
  const [tag] = tags;
  const isFirst = tag?.name === name && html.slice(0, tag.start).trim() === "";
  const end = steps.findIndex((step) => step.kind === "end" && step.tag === tag);
  if (isFirst && steps.slice(end + 1).every(({ data, kind }) => kind === "text" && data.trim() === "")) return;
  throw new HttpError(400, "INVALID_TARGET", `<${name}> can only be replaced by another <${name}> element.`);
}
