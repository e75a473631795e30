import type { SourceElement } from "../html/document/html-nodes.ts";
import { formatHttpDate } from "../http/http-date.ts";
import { emptyReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import { loadDocument } from "./document-cache.ts";
import {
  elementBytes,
  elementHeaders,
  elementTag,
  judgePreconditions,
  noMatchReply,
  withMatches,
} from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";
import { ChosenElements, clientOf, elementFinder } from "./selection.ts";

/** GET and HEAD of elements: the outer HTML of every match in document order, byte for byte (206), or 304. */
export async function readElements(request: ElementRequest): Promise<Reply> {
  const { exchange, options, path, right } = request;
  const { access } = exchange;
  const client = clientOf(exchange);
  const findElements = elementFinder(request.selector, options, client);
  const { document, stat, release } = await loadDocument(request, request.documents, options, client);
  let matches: readonly SourceElement[] = [];
  try {
    matches = await findElements(document);
    if (matches.length === 0) return noMatchReply(options.dialect);
    const chosen = new ChosenElements(document, matches, options.maxSelectionSteps);
    if (!(await chosen.isGiven(access, right, path, client))) throw access.refusal();
    const body = await elementBytes(document, matches, options);
    const etag = elementTag(body);
    const headers: ReplyHeaders = {
      ...elementHeaders(request, matches.length),
      etag,
      "last-modified": formatHttpDate(stat.modified),
    };
    if ((await judgePreconditions(exchange, stat, async () => etag)) === "not-modified")
      return emptyReply(304, headers);
    headers["content-length"] = String(body.byteLength);
    return exchange.method === "HEAD" ? { status: 206, headers } : { status: 206, headers, body };
  } catch (error) {
    throw matches.length > 0 ? withMatches(error, matches.length) : error;
  } finally {
    release();
  }
}
