import { HttpError } from "../http/http-error.ts";
import { preferredType } from "../http/negotiation.ts";
import { locationOf } from "../http/request-target.ts";
import { emptyReply, type Reply, withFields } from "../server/reply.ts";
import { dependsOnCoding } from "./content-coding.ts";
import { type FileRequest, openStandIn } from "./file-request.ts";
import { canSignIn, listDirectory } from "./list-directory.ts";
import { asksFor } from "./listing-query.ts";
import { readFile } from "./read-file.ts";
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
  const index = limits || wantsListing(request) ? undefined : await openStandIn(request);
  if (index && !exchange.access.permitsPath("read", index.path)) throw exchange.access.refusal();
  if (index) return readIndex(index);
  if (!exchange.access.permitsPath("list", path)) throw exchange.access.refusal();
  if (!options.listing) throw new HttpError(403, "LISTING_DISABLED", "This directory may not be listed.");
  return limits ? zipDirectory(request, limits) : listDirectory(request);
}

/** At this path other users, or the same user with another `Accept`, get the listing. */
async function readIndex(index: FileRequest): Promise<Reply> {
  const reply = await readFile(index);
  const vary = `accept, authorization, range${dependsOnCoding(index) ? ", accept-encoding" : ""}`;
  return withFields(reply, { vary });
}

/** Judged by what the client sent: a framework that mounts the server gives "/" for its mount point in either case. */
function hasTrailingSlash(url: string): boolean {
  const [, path = ""] = /^(?:https?:\/\/[^/?]*)?([^?]*)/i.exec(url) ?? [];
  return path === "" || path.endsWith("/"); // "http://host" stands for its root
}

function wantsListing({ exchange, options }: FileRequest): boolean {
  const types = ["text/html", "application/json"] as const;
  return options.listing && preferredType(exchange.headers.accept, types) === "application/json";
}
