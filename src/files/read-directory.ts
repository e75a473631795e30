import { Readable } from "node:stream";
import { itemsInSlices } from "../event-loop/sliced-work.ts";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import { preferredType } from "../http/negotiation.ts";
import { locationOf } from "../http/request-target.ts";
import type { Exchange } from "../server/exchange.ts";
import { emptyReply, type Reply, type ReplyHeaders, withFields } from "../server/reply.ts";
import { dependsOnCoding } from "./content-coding.ts";
import { canSignIn, directoryPage, directoryPagePolicy } from "./directory-page.ts";
import { type FileRequest, openStandIn } from "./file-request.ts";
import { asksFor, maxLimit, readListingQuery } from "./listing-query.ts";
import { readFile } from "./read-file.ts";
import { inOrder, linkToNext, select } from "./select-names.ts";
import { ClientSlice, type ListedEntry } from "./visible-entries.ts";
import { zipDirectory, zipLimits } from "./zip-directory.ts";

/** GET and HEAD of a directory: its `.zip`, index file or listing; without its trailing slash, a redirect. */
export async function readDirectory(request: FileRequest): Promise<Reply> {
  const { exchange, path, options } = request;
  if (!hasTrailingSlash(exchange.url)) {
    // Without it browsers would keep the redirect forever, even after a file has taken the directory's place.
    const headers = { location: locationOf(exchange, path) + exchange.search, "cache-control": "no-cache" };
    return emptyReply(301, headers);
  }
  const isAnonymous = exchange.user === undefined;
  if (asksFor("signin", exchange.search)) {
    if (isAnonymous && canSignIn(request)) throw exchange.access.refusal();
    return emptyReply(302, { location: locationOf(exchange, path), "cache-control": "no-store" });
  }
  const limits = asksFor("zip", exchange.search) ? zipLimits(options) : undefined;
  const index = limits || (options.listing && wantsJson(exchange)) ? undefined : await openStandIn(request);
  if (index) {
    if (!exchange.access.permitsPath("read", index.path)) throw exchange.access.refusal();
    // At this path other users, or the same user with another `Accept`, get the listing.
    const vary = `accept, authorization, range${dependsOnCoding(index) ? ", accept-encoding" : ""}`;
    return withFields(await readFile(index), { vary });
  }
  if (!exchange.access.permitsPath("list", path)) throw exchange.access.refusal();
  if (!options.listing) throw new HttpError(403, "LISTING_DISABLED", "This directory may not be listed.");
  return limits ? zipDirectory(request, limits) : listDirectory(request);
}

/** Judged by what the client sent: a framework that mounts the server gives "/" for its mount point in either case. */
function hasTrailingSlash(url: string): boolean {
  const [, path = ""] = /^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(url) ?? [];
  return path === "" || path.endsWith("/"); // "http://host" stands for its root
}

function wantsJson({ headers }: Exchange): boolean {
  return preferredType(headers.accept, ["text/html", "application/json"]) === "application/json";
}

/** Most entries of an HTML page: more would be slow to show in a browser. */
const maxPageEntries = 5_000;

/** Answers what is in a directory, as HTML or JSON. Only names are held; entries are measured as the client reads. */
export async function listDirectory(request: FileRequest): Promise<Reply> {
  const { exchange, openListing, path } = request;
  const asked = readListingQuery(exchange.search);
  const isJson = wantsJson(exchange);
  const headers: ReplyHeaders = {
    "content-type": isJson ? "application/json" : "text/html; charset=utf-8",
    "cache-control": "no-cache",
    vary: "accept, authorization",
    ...(!isJson && { "content-security-policy": directoryPagePolicy }),
  };
  // As a stream, because that of GET has no known length either; nothing is listed for it.
  if (exchange.method === "HEAD") return { status: 200, headers, body: Readable.from([]) };

  const hold = openListing(exchange);
  const slice = new ClientSlice(exchange.signal);
  const query = { ...asked, limit: Math.min(asked.limit ?? maxLimit, isJson ? maxLimit : maxPageEntries) };
  const selected = await select(request, query, hold, slice);
  const entries = await inOrder(request, selected.names, query, slice);
  const text = isJson
    ? jsonText(path, entries, linkToNext(query, selected))
    : directoryPage(request, { query: asked, selected, entries });
  // A client that reads as fast as we write never makes the stream wait.
  return { status: 200, headers, body: Readable.from(itemsInSlices(text, slice), { objectMode: false }) };
}

type Text = AsyncGenerator<string>;

async function* jsonText(path: string, entries: AsyncGenerator<ListedEntry[]>, next: string | undefined): Text {
  yield `{"path":${JSON.stringify(path)},"entries":[`;
  let separator = "\n";
  for await (const batch of entries) {
    let text = "";
    for (const { name, type, stat } of batch) {
      const etag = type === "file" ? entityTag(stat.version) : undefined;
      text += separator + JSON.stringify({ name, type, size: stat.size, modified: stat.modified, etag });
      separator = ",\n";
    }
    yield text;
  }
  yield `\n]${next === undefined ? "" : `,"next":${JSON.stringify(next)}`}}\n`;
}
