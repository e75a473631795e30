import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import { belowMount, parseHost, parseRequestPath } from "../http/request-target.ts";
import type { Exchange } from "../server/exchange.ts";
import type { CommitCheck, StoredStat } from "../storage/storage.ts";
import type { FileRequest } from "./file-request.ts";
import { listedPath, refuseHiddenPath } from "./listed-path.ts";

export interface Destination {
  readonly path: string;
  readonly stat: StoredStat | undefined;
  readonly check: CommitCheck;
}

/** Reads `Destination` and `Overwrite` (RFC 4918 §10.3, §10.6): on this host, behind the same plugins, by right. */
export async function destinationOf(request: FileRequest): Promise<Destination> {
  const path = await placeOf(request, destinationPath(request.exchange));
  const stat = await request.storage.stat(path);
  if (path.endsWith("/") || stat?.type === "directory") {
    throw new HttpError(409, "FILE_EXISTS", "The destination is a directory; name the file in it.");
  }
  const destination = destinationAt(request.exchange, path, stat);
  destination.check(stat);
  return destination;
}

/** The same for a directory, whose path ends in `/`. A directory takes the place of nothing that is there. */
export async function vacantPathOf(request: FileRequest): Promise<string> {
  const { exchange, storage, path: from } = request;
  const plain = await placeOf(request, destinationPath(exchange).replace(/\/$/, "") || "/");
  if (`${plain}/`.startsWith(from)) {
    throw new HttpError(403, "FORBIDDEN_PATH", "The destination is the directory itself, or lies in it.");
  }
  const stat = await storage.stat(plain);
  if (stat) {
    destinationAt(exchange, plain).check(stat);
    throw new HttpError(409, "FILE_EXISTS", "There is something at the destination; name a new directory.");
  }
  return `${plain}/`;
}

/** A place whose path was found to be one for this request. */
export function destinationAt(exchange: Exchange, path: string, stat?: StoredStat): Destination {
  const check: CommitCheck = (current) => {
    exchange.follows = current ? entityTag(current.version) : "";
    if (!exchange.access.permitsPath(current ? "overwrite" : "create", path)) throw exchange.access.refusal();
    if (current && (exchange.header("overwrite") ?? "T") !== "T") {
      throw new HttpError(412, "PRECONDITION_FAILED", "There is something at the destination; nothing was done.");
    }
  };
  return { path, stat, check };
}

async function placeOf(request: FileRequest, wanted: string): Promise<string> {
  const { exchange, options, path: from } = request;
  refuseHiddenPath(exchange.method, wanted, options.dotfiles);
  requireGuardedAlike(exchange, from, wanted);
  refuseWithoutRight(exchange, wanted);
  const path = await listedPath(exchange, request, wanted);
  refuseWithoutRight(exchange, path);
  if (path === from) throw new HttpError(403, "FORBIDDEN_PATH", "The destination is the file itself.");
  return path;
}

/** A plugin that covers the one path only has not seen this request, or has seen it as one for the other. */
export function requireGuardedAlike({ site }: Exchange, from: string, to: string): void {
  if (!site.isGuardedAlike(from, to)) throw elsewhere();
}

function destinationPath(exchange: Exchange): string {
  const sent = exchange.header("destination");
  if (sent === undefined || exchange.count("destination") > 1) {
    throw new HttpError(400, "INVALID_PATH", "Send one Destination header: the URL or path to copy or move to.");
  }
  const below = belowMount(sent, exchange.mount);
  if (below === undefined) throw elsewhere();
  const { path, authority } = parseRequestPath(below);
  // By name alone: a proxy that ends TLS changes scheme and port.
  if (authority !== undefined && parseHost(authority) !== exchange.host) throw elsewhere();
  return path;
}

function refuseWithoutRight({ access }: Exchange, path: string): void {
  if (!access.permitsPath("create", path) && !access.permitsPath("overwrite", path)) throw access.refusal();
}

function elsewhere(): HttpError {
  const details = "The destination lies elsewhere: on another host, or behind other plugins.";
  return new HttpError(403, "FORBIDDEN_PATH", details);
}
