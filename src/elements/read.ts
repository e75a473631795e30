import {
  isHtmlElement,
  permanentElements,
  type SourceDocument,
  type SourceElement,
  voidElements,
} from "../html/engine.ts";
import { entityTag } from "../http/entity-tag.ts";
import { isPast } from "../http/preconditions.ts";
import type { Right, SelectedElements } from "../server/access.ts";
import { clientOf } from "../server/admission.ts";
import type { InspectedPage } from "../server/inspection.ts";
import { emptyReply, jsonReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import { type LoadedDocument, loadDocument } from "./document-cache.ts";
import {
  elementBytes,
  elementHeaders,
  elementTag,
  judgePreconditions,
  matchHeaders,
  noMatchReply,
  withMatches,
} from "./element-reply.ts";
import type { ElementRequest } from "./element-request.ts";
import { ChosenElements, finderOf } from "./selection.ts";

/** GET and HEAD of elements: the outer HTML of every match in document order, byte for byte (206), or 304. */
export async function readElements(request: ElementRequest): Promise<Reply> {
  const { exchange, options, path, right } = request;
  const { access } = exchange;
  const client = clientOf(exchange);
  const { document, stat, release, leave } = await loadDocument(request, request.documents, options, client);
  let matches: readonly SourceElement[] = [];
  try {
    matches = await finderOf(options, client)(document, request.selector);
    if (exchange.inspection?.look) {
      const page = inspectedPage(request, { document, stat, matches });
      return jsonReply(206, (await exchange.inspection.look(page)) ?? null, elementHeaders(request));
    }
    if (matches.length === 0) return noMatchReply(options.dialect);
    const chosen = new ChosenElements(document, matches, options.maxSelectionSteps);
    if (!(await chosen.isGiven(access, right, path, client, "look"))) throw access.refusal();
    const { body, etag } = await contentOf(document, matches, request);
    const headers = elementHeaders(request, matches.length);
    headers["etag"] = etag;
    if (isPast(stat.modified)) headers["last-modified"] = stat.modified.toUTCString();
    if ((await judgePreconditions(exchange, stat, async () => etag)) === "not-modified")
      return emptyReply(304, headers);
    headers["content-length"] = String(body.byteLength);
    return exchange.method === "HEAD" ? { status: 206, headers } : { status: 206, headers, body };
  } catch (error) {
    throw matches.length > 0 ? withMatches(error, matches.length) : error;
  } finally {
    release();
    leave?.();
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
    find: (selector) => find(document, selector),
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
  { options, exchange }: ElementRequest,
): Promise<Content> {
  const known = contents.get(matches);
  if (known) return known;
  const body = await elementBytes(document, matches, options, exchange);
  const content = { body, etag: elementTag(body) };
  if (body.byteLength <= maxRemembered) contents.set(matches, content);
  return content;
}

/** What is known of the elements that a request is about before anything is done to them. */
export interface ExaminedElements {
  readonly headers: ReplyHeaders;
  /** Methods that could not succeed for anybody: DELETE of a `body`, POST to an `img`. */
  readonly impossible: ReadonlySet<string>;
  readonly elements: SelectedElements;
}

const rightsToChange: readonly Right[] = ["overwrite", "append", "delete"];

/** Looks at the elements that a request selects. Throws what a GET of them would throw. */
export async function examineElements(request: ElementRequest): Promise<ExaminedElements> {
  const { exchange, options, path, right } = request;
  const { access } = exchange;
  const client = clientOf(exchange);
  const { document, release, leave } = await loadDocument(request, request.documents, options, client);
  exchange.defer(release); // the elements are asked about until there is a reply
  if (leave) exchange.defer(leave);
  const matches = await finderOf(options, client)(document, request.selector);
  const elements = new ChosenElements(document, matches, options.maxSelectionSteps);
  const isGiven = (asked: Right) => elements.isGiven(access, asked, path, client, "look");
  if (matches.length > 0 && !(await isGiven(right))) throw access.refusal();
  // What the rules select is known from here on, when the rights are asked for again.
  for (const each of rightsToChange) await isGiven(each);
  leave?.(); // before the host program goes on
  const permanent = permanentElements(document);
  const impossible = new Set<string>();
  if (matches.some((element) => permanent.includes(element))) impossible.add("DELETE");
  if (matches.some((element) => isHtmlElement(element) && voidElements.has(element.name))) impossible.add("POST");
  return { headers: matchHeaders(matches.length), impossible, elements };
}
