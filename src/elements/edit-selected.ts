import { Buffer } from "node:buffer";
import { emptyReply, type Reply } from "../server/reply.ts";
import { type DoneEdits, editElements } from "./edit-elements.ts";
import { dialects, elementBytes, elementHeaders } from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";

// PUT, POST and DELETE of elements are lists of one edit.

/** That of HTML, which is less than what `trim` takes away. */
const whiteSpace: ReadonlySet<string> = new Set(["\t", "\n", "\f", "\r", " "]);

/** PUT of elements: every match, the outermost where they nest, gives way to the content of the request (206). */
export function replaceElements(request: ElementRequest): Promise<Reply> {
  const { selector } = request;
  return editElements(request, {
    kind: "elements-replaced",
    selector,
    edits: (html) => [{ op: "replace", selector, html: withoutFinalLineBreak(html) }],
    content: async ({ only }) =>
      Buffer.from(only?.placements.map(({ fragment }) => fragment?.html ?? "").join("") ?? ""),
    reply: async (done, content) => elementsReply(request, done, content),
  });
}

/** POST to elements: adds the content after the last child of every match (206). Blank content writes nothing. */
export function appendToElements(request: ElementRequest): Promise<Reply> {
  const { selector, options, exchange } = request;
  const { appended } = dialects[options.dialect];
  return editElements(request, {
    kind: "elements-appended",
    selector,
    edits: (html) => [{ op: "insert", position: "beforeend", selector, html }],
    content: async ({ document, only }, matches) =>
      elementBytes(document, only?.elements ?? matches, options, exchange),
    reply: async (done, content = new Uint8Array()) =>
      elementsReply(request, done, appended(content, suppliedBy(done))),
  });
}

/** DELETE of elements: every match, the outermost where they nest, is removed (204). */
export function deleteElements(request: ElementRequest): Promise<Reply> {
  const { selector } = request;
  return editElements(request, {
    kind: "elements-deleted",
    selector,
    edits: () => [{ op: "remove", selector }],
    reply: async ({ headers }) => emptyReply(204, headers),
  });
}

/** Tells those who may not read the elements just what they have supplied. */
function elementsReply(request: ElementRequest, done: DoneEdits, content: Uint8Array | undefined): Reply {
  const headers = { ...elementHeaders(request), ...done.headers };
  if (!done.edits[0]?.isReadable) return { status: 206, headers, body: suppliedBy(done) };
  const { elementTag: etag } = done;
  return { status: 206, headers: { ...headers, ...(etag && { etag }) }, body: content ?? new Uint8Array() };
}

function suppliedBy({ edits: [only] }: DoneEdits): Uint8Array {
  return Buffer.from(only && "html" in only.edit ? only.edit.html : "");
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
