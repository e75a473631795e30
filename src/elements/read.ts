import type { SourceDocument, SourceElement } from "../html/engine.ts";
import { entityTag } from "../http/entity-tag.ts";
import { formatHttpDate } from "../http/http-date.ts";
import { isPast } from "../http/preconditions.ts";
import type { InspectedPage } from "../server/inspection.ts";
import { emptyReply, jsonReply, type Reply } from "../server/reply.ts";
import { type LoadedDocument, loadDocument } from "./document-cache.ts";
import {
  elementBytes,
  elementHeaders,
  elementTag,
  judgePreconditions,
  noMatchReply,
  withMatches,
} from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";
import { ChosenElements, clientOf, elementFinder, finderOf } from "./selection.ts";

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
    if (exchange.inspection?.look) {
      const page = inspectedPage(request, { document, stat, matches });
      return jsonReply(206, (await exchange.inspection.look(page)) ?? null, elementHeaders(request));
    }
    if (matches.length === 0) return noMatchReply(options.dialect);
    const chosen = new ChosenElements(document, matches, options.maxSelectionSteps);
    if (!(await chosen.isGiven(access, right, path, client))) throw access.refusal();
    const { body, etag } = await contentOf(document, matches, options);
    const headers = elementHeaders(request, matches.length);
    headers["etag"] = etag;
    if (isPast(stat.modified)) headers["last-modified"] = formatHttpDate(stat.modified);
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

/** A page as a plugin that has made the request may look at it. */
function inspectedPage(
  { exchange, options, path }: ElementRequest,
  { document, stat, matches }: Pick<InspectedPage, "document" | "matches"> & Pick<LoadedDocument, "stat">,
): InspectedPage {
  const { access } = exchange;
  const client = clientOf(exchange);
  const find = finderOf(options, client, { steps: 0 });
  const isReadable = access.permitsPath("read", path);
  return {
    document,
    etag: entityTag(stat.version),
    matches,
    isReadable,
    mayRead: async (element) =>
      isReadable ||
      new ChosenElements(document, [element], options.maxSelectionSteps).isGiven(access, "read", path, client),
    tagOf: async (elements) => elementTag(await elementBytes(document, elements, options)),
    find: async (selector) => find(document, selector),
  };
}

/** What a client gets of its matches. */
interface Content {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** Longest content that is remembered, in bytes: a small part of a tree's memory, as it remembers few selectors. */
const maxRemembered = 4096;

/** By the array of matches, which is the same one for all who ask for a selector in one version of a document. */
const contents = new WeakMap<readonly SourceElement[], Content>();

/** Made once for all who ask: to make it takes a quarter of the time of a request. */
async function contentOf(
  document: SourceDocument,
  matches: readonly SourceElement[],
  options: ElementRequest["options"],
): Promise<Content> {
  const known = contents.get(matches);
  if (known) return known;
  const body = await elementBytes(document, matches, options);
  const content = { body, etag: elementTag(body) };
  if (body.byteLength <= maxRemembered) contents.set(matches, content);
  return content;
}
