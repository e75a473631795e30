import { Buffer } from "node:buffer";
import type { ElementRequest } from "../files/file-request.ts";
import { HttpError } from "../http-error.ts";
import type { Reply } from "../reply.ts";
import { editElements } from "./edit-elements.ts";
import { elementHeaders, noMatchReply } from "./element-reply.ts";
import { requireSpan } from "./element-span.ts";
import type { Placement } from "./fits-in-place.ts";
import { type HtmlDocument, requireEncodable } from "./html-document.ts";
import type { SourceElement } from "./html-nodes.ts";
import { previousOf } from "./neighbours.ts";
import { outermost } from "./outermost.ts";
import { pageElements } from "./page-elements.ts";
import { endTagsAt, firstTagOf } from "./unclosed-tail.ts";
import { decodeHtml, type Fragment, fragmentsOf, invalidHtml } from "./well-formed.ts";

/** PUT of elements: every match, the outermost where they nest, gives way to the content of the request (206). */
export async function replaceElements(request: ElementRequest): Promise<Reply> {
  const edited = await editElements(request, async () => {
    const html = decodeHtml(await request.exchange.body.bytes());
    if (html.trim() === "") throw invalidHtml("it is empty; to remove elements, use DELETE", 1, 1);
    return {
      kind: "elements-replaced",
      html,
      replacements: (document, matches) => replacements(document, matches, html),
    };
  });
  if (!edited) return noMatchReply();
  const html = edited.replacements.map(({ fragment }) => fragment?.html ?? "").join("");
  const body = Buffer.from(html, edited.document.encoding);
  return { status: 206, headers: elementHeaders(request, edited.matches.length), body };
}

function replacements(document: HtmlDocument, matches: readonly SourceElement[], html: string): readonly Placement[] {
  requireEncodable(document, html);
  const page = Object.values(pageElements(document.root));
  const fragmentIn = fragmentsOf(html);
  const found = outermost(matches).map((element): Placement => {
    const { parent } = element;
    const fragment = fragmentIn(parent);
    if (page.includes(element)) requireSameElement(element, fragment);
    const { start, end } = requireSpan(element);
    const endTags = endTagsAt(previousOf(element), start, firstTagOf(fragment));
    return { start, end, text: endTags + fragment.html, fragment, fragmentStart: endTags.length, parent };
  });
  // Error recovery may order the document otherwise than the source.
  return found.sort((a, b) => a.start - b.start);
}

/** `html`, `head` and `body` are on every page: each gives way to another one of its kind only. */
function requireSameElement({ name }: SourceElement, { html, tags }: Fragment): void {
  const [tag] = tags;
  const endTag = tag?.endTag ?? html.length;
  const isWhole =
    tag?.name === name &&
    tag.start === 0 &&
    html
      .slice(endTag)
      .replace(/^<\/[a-z]+\s*>/i, "")
      .trim() === "";
  if (isWhole) return;
  throw new HttpError(400, "INVALID_TARGET", `<${name}> can only be replaced by another <${name}> element.`);
}
