import { createHash } from "node:crypto";
import { entityTag } from "../http/entity-tag.ts";
import { evaluatePreconditions, preconditionFailed, type Validators } from "../http/preconditions.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Reply } from "../server/reply.ts";

/** Where pages find the modules, below the mount. RFC 8615 keeps these names free for such things. */
export const modulesPath = "/.well-known/filement/";

/** What listings load. Every host has these modules where no file of its own is. */
const listingModules: readonly string[] = ["listing.js", "markdown.js"];

export interface BrowserModule extends Validators {
  readonly content: Uint8Array;
}

const read = new Map<string, Promise<BrowserModule>>();

export function browserModule(name: string): Promise<BrowserModule> {
  const reading = read.get(name) ?? readModule(name);
  read.set(name, reading);
  reading.catch(() => read.delete(name));
  return reading;
}

export function listingModule(method: string, path: string): string | undefined {
  if ((method !== "GET" && method !== "HEAD") || !path.startsWith(modulesPath)) return undefined;
  return listingModules.find((name) => path === modulesPath + name);
}

export function moduleReply(
  { method, headers }: Pick<Exchange, "method" | "headers">,
  { content, ...validators }: BrowserModule,
): Reply {
  const verdict = evaluatePreconditions(method, headers, validators);
  if (verdict === "failed") throw preconditionFailed(validators);
  // A browser that kept a module of an older version would not understand the server: it has to ask each time.
  const fields = {
    etag: validators.etag,
    "last-modified": validators.modified.toUTCString(),
    "cache-control": "no-cache",
  };
  if (verdict === "not-modified") return { status: 304, headers: fields };
  return { status: 200, headers: { ...fields, "content-type": "text/javascript; charset=utf-8" }, body: content };
}

/** From a module that has their text, so that a bundler takes them along and no right to read files is needed. */
async function readModule(name: string): Promise<BrowserModule> {
  const { modules } = await import("#browser-modules");
  const content = Buffer.from(modules[name] ?? "");
  // Of the content: machines behind one load balancer then agree on it.
  const etag = entityTag(createHash("sha256").update(content).digest("base64url").slice(0, 22));
  return { content, etag, modified: new Date() }; // a package has no times of its files
}
