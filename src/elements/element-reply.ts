import { Buffer } from "node:buffer";
import type { ElementRequest } from "../files/file-request.ts";
import { emptyReply, type Reply, type ReplyHeaders } from "../reply.ts";
import { elementSpan } from "./element-span.ts";
import { type HtmlDocument, outerHtml } from "./html-document.ts";
import type { SourceElement } from "./html-nodes.ts";

const unit = /^\s*selector=\s*/i;

/** The answer where no element matches: 204, for every method. */
export function noMatchReply(): Reply {
  return emptyReply(204, { "x-selector-matches": "0" });
}

/** Header fields of a 206 with elements, and of a 304 in its place. */
export function elementHeaders({ exchange, options }: ElementRequest, matches: number): ReplyHeaders {
  const received = exchange.headers.range?.replace(unit, "").trim() ?? "";
  return {
    "content-type": "text/html; charset=utf-8",
    "content-range": `selector ${received}`,
    "x-selector-matches": String(matches),
    vary: "Range, Authorization",
    "cache-control": "no-cache",
    ...(options.untrustedContent && { "content-security-policy": "sandbox" }),
  };
}

/** The elements as they stand in the file; those without characters of their own as a browser serialises them. */
export function elementBytes(document: HtmlDocument, elements: readonly SourceElement[]): Uint8Array {
  return Buffer.from(elements.map((element) => elementSource(document, element)).join(""), document.encoding);
}

function elementSource({ source }: HtmlDocument, element: SourceElement): string {
  const span = elementSpan(element);
  return span ? source.slice(span.start, span.end) : outerHtml(element);
}
