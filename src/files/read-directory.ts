import { preferredType } from "../http/negotiation.ts";
import { encodePath } from "../http/request-path.ts";
import { HttpError } from "../http-error.ts";
import { emptyReply, type Reply } from "../reply.ts";
import type { FileRequest } from "./file-request.ts";
import { listDirectory } from "./list-directory.ts";
import { readFile } from "./read-file.ts";

/** GET and HEAD of a directory: its index file, else its listing; without its trailing slash, a redirect to it. */
export async function readDirectory(request: FileRequest): Promise<Reply> {
  const { exchange, path, options } = request;
  if (!hasTrailingSlash(exchange.url)) {
    return emptyReply(301, { location: exchange.mount + encodePath(path) + exchange.search });
  }
  const index = wantsListing(request) ? undefined : await openIndex(request);
  if (index && exchange.access.permits("read", index.path)) return readFile(index);
  if (!exchange.access.permits("list", path)) throw exchange.access.refusal();
  if (!options.listing) throw new HttpError(403, "LISTING_DISABLED", "This directory may not be listed.");
  return listDirectory(request);
}

/** Judged by what the client sent: a framework that mounts the server gives "/" for its mount point in either case. */
function hasTrailingSlash(url: string): boolean {
  const query = url.indexOf("?");
  return url.endsWith("/", query === -1 ? url.length : query);
}

function wantsListing({ exchange, options }: FileRequest): boolean {
  const types = ["text/html", "application/json"] as const;
  return options.listing && preferredType(exchange.headers.accept, types) === "application/json";
}

async function openIndex(request: FileRequest): Promise<FileRequest | undefined> {
  const { exchange, storage, options } = request;
  if (options.index === false) return undefined;
  const path = request.path + options.index;
  if (exchange.method === "HEAD") {
    const stat = await storage.stat(path);
    return stat?.type === "file" ? { ...request, path, stat } : undefined;
  }
  const file = await storage.open(path);
  if (!file) return undefined;
  exchange.defer(() => file.close());
  return { ...request, path, stat: file.stat, file };
}
