import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { TimeSlice } from "../event-loop/time-slice.ts";
import { entityTag } from "../http/entity-tag.ts";
import { isHiddenPath } from "../http/hidden-names.ts";
import { preferredType } from "../http/negotiation.ts";
import { forbiddenInName } from "../http/request-path.ts";
import type { ReplyHeaders } from "../server/reply.ts";
import type { StoredEntry } from "../storage/storage.ts";
import { directoryPage, directoryPagePolicy } from "./directory-page.ts";
import type { FileOperation, FileRequest } from "./file-request.ts";
import { compareEntries, listingOrder } from "./listing-order.ts";
import { sortInSlices } from "./sort-in-slices.ts";

/** Big enough for few writes, small enough that a slow client holds next to nothing of a long listing. */
const chunkLength = 16_384;

/**
 * Answers what is in a directory, as a page or as JSON, whichever the client prefers. Nothing that is hidden, or that
 * this user may not open, is mentioned. A long listing is collected, sorted and sent piece by piece between other work.
 */
export const listDirectory: FileOperation = async (request) => {
  const { exchange, path } = request;
  const isJson = preferredType(exchange.headers.accept, ["text/html", "application/json"]) === "application/json";
  const headers: ReplyHeaders = {
    "content-type": isJson ? "application/json" : "text/html; charset=utf-8",
    "cache-control": "no-cache",
    vary: "accept, authorization",
    ...(!isJson && { "content-security-policy": directoryPagePolicy }),
  };
  // As a stream, because that of GET has no known length either; nothing is listed for it.
  if (exchange.method === "HEAD") return { status: 200, headers, body: Readable.from([]) };

  const order = listingOrder(exchange.search);
  const entries = await sortInSlices(await visibleEntries(request), compareEntries(order));
  const text = isJson
    ? listingJson(path, entries)
    : directoryPage({ path, entries, order, site: `${exchange.host}${exchange.mount}` });
  return { status: 200, headers, body: Readable.from(inChunks(text), { objectMode: false }) };
};

async function visibleEntries({ exchange, storage, options, path }: FileRequest): Promise<StoredEntry[]> {
  const { access, signal } = exchange;
  const isVisible = ({ name, type }: StoredEntry) => {
    // A name that no request can spell would be a link to an error.
    if (forbiddenInName.test(name) || isHiddenPath(path + name, options.dotfiles)) return false;
    return type === "directory" ? access.permits("list", `${path}${name}/`) : access.permits("read", path + name);
  };

  const visible: StoredEntry[] = [];
  const slice = new TimeSlice();
  for await (const entry of storage.list(path)) {
    if (isVisible(entry)) visible.push(entry);
    // A storage that has everything in memory yields without ever waiting.
    if (slice.isOver) await slice.renew();
    if (signal.aborted) return []; // the client left: nobody reads the rest
  }
  return visible;
}

function* listingJson(path: string, entries: readonly StoredEntry[]): Generator<string> {
  yield `{"path":${JSON.stringify(path)},"entries":[`;
  let separator = "\n";
  for (const { name, type, size, modified, version } of entries) {
    const etag = type === "file" ? entityTag(version) : undefined;
    yield separator + JSON.stringify({ name, type, size, modified, etag });
    separator = ",\n";
  }
  yield "\n]}\n";
}

async function* inChunks(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
  const slice = new TimeSlice();
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < chunkLength) continue;
    yield Buffer.from(text);
    text = "";
    // A client that reads as fast as we write never makes the stream wait.
    if (slice.isOver) await slice.renew();
  }
  yield Buffer.from(text);
}
