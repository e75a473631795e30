import type { ElementRequest } from "../files/file-request.ts";
import { entityTag } from "../http/entity-tag.ts";
import { formatHttpDate } from "../http/http-date.ts";
import { evaluatePreconditions, preconditionFailed } from "../http/preconditions.ts";
import { emptyReply, type Reply, type ReplyHeaders } from "../reply.ts";
import { elementBytes, elementHeaders, noMatchReply } from "./element-reply.ts";
import { loadDocument } from "./load-document.ts";
import { compileSelector, selectElements } from "./select.ts";

/** GET and HEAD of elements: the outer HTML of every match in document order, byte for byte (206), or 304. */
export async function readElements(request: ElementRequest): Promise<Reply> {
  const { exchange } = request;
  const selector = compileSelector(request.selector);
  const { document, stat } = await loadDocument(request);
  const matches = selectElements(document, selector);
  if (matches.length === 0) return noMatchReply();

  const validators = { etag: entityTag(stat.version), modified: stat.modified };
  const verdict = evaluatePreconditions(exchange.method, exchange.headers, validators);
  if (verdict === "failed") throw preconditionFailed(validators);
  const headers: ReplyHeaders = {
    ...elementHeaders(request, matches.length),
    "last-modified": formatHttpDate(stat.modified),
  };
  if (verdict === "not-modified") return emptyReply(304, headers);
  const body = elementBytes(document, matches);
  headers["content-length"] = String(body.byteLength);
  return exchange.method === "HEAD" ? { status: 206, headers } : { status: 206, headers, body };
}
