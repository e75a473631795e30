import type { ElementRequest } from "../files/file-request.ts";
import { formatHttpDate } from "../http/http-date.ts";
import { emptyReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import { judgePreconditions } from "./element-preconditions.ts";
import { elementBytes, elementHeaders, noMatchReply, withMatches } from "./element-reply.ts";
import { elementTag } from "./element-tag.ts";
import { elementFinder } from "./find-elements.ts";
import { loadDocument } from "./load-document.ts";
import { requirePermitted } from "./selected-elements.ts";

/** GET and HEAD of elements: the outer HTML of every match in document order, byte for byte (206), or 304. */
export async function readElements(request: ElementRequest): Promise<Reply> {
  const { exchange, options } = request;
  const findElements = elementFinder(request);
  const loaded = await loadDocument(request);
  const matches = await findElements(loaded.document);
  if (matches.length === 0) return noMatchReply(request);

  try {
    requirePermitted(request, loaded.document, matches);
    const body = await elementBytes(loaded.document, matches, options);
    const etag = elementTag(body);
    const headers: ReplyHeaders = {
      ...elementHeaders(request, matches.length),
      etag,
      "last-modified": formatHttpDate(loaded.stat.modified),
    };
    if ((await judgePreconditions(request, loaded, { elements: matches, isReadable: true, etag })) === "not-modified")
      return emptyReply(304, headers);
    headers["content-length"] = String(body.byteLength);
    return exchange.method === "HEAD" ? { status: 206, headers } : { status: 206, headers, body };
  } catch (error) {
    throw withMatches(error, matches.length);
  }
}
