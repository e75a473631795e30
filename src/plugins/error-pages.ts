import { contentTypeTable } from "../http/content-type.ts";
import { preferredType } from "../http/negotiation.ts";
import { isCanonicalPath } from "../http/request-target.ts";
import { checkOptions } from "../options/check-config.ts";
import { type OptionsSchema, optionsOf, recordOf, text } from "../options/schema.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import { type Reply, variesBy } from "../server/reply.ts";
import type { Site } from "../server/site.ts";

/** Options for {@link errorPages}. */
export interface ErrorPagesOptions {
  /** Files by status: `{ 404: "/errors/404.html", "5xx": "/errors/down.html" }`. A status precedes its class. */
  readonly pages: Readonly<Record<string, string>>;
}

export const errorPagesOptions: OptionsSchema = optionsOf(
  {
    pages: recordOf(
      text("a path", (path) => isCanonicalPath(path) && !path.endsWith("/"), "the path of a file, decoded"),
      "paths by status",
      text("a status", (status) => /^[45](?:\d\d|xx)$/.test(status), "a status from 400 to 599, 4xx or 5xx"),
    ),
  },
  "an object with pages",
  ["pages"],
);

/** Larger ones are not error pages, and would be read for every request. */
const maxPageBytes = 1024 * 1024;

/**
 * Answers people with pages of the host's own in place of the built-in error page. The status and the header fields
 * stay; clients that prefer JSON get JSON. A page that is missing or larger than 1 MiB is not used. Put it before the
 * plugins whose errors it is for. Throws a `ConfigError` for options that cannot work.
 *
 * @example errorPages({ pages: { 404: "/errors/404.html", "5xx": "/errors/down.html" } });
 */
export function errorPages(options: ErrorPagesOptions): Plugin {
  checkOptions("errorPages", errorPagesOptions, options);
  const { pages } = options;
  const typesOf = new Map<Site, (path: string) => string>();
  return {
    name: "error-pages",
    start: (site) => void typesOf.set(site, contentTypeTable(site.options.contentTypes)),
    async handle(exchange, next) {
      const reply = await next();
      const { status, error } = reply;
      const path = pages[status] ?? pages[`${Math.floor(status / 100)}xx`];
      if (!error || path === undefined || !isForPerson(exchange)) return reply;
      const body = await contentOf(exchange, path);
      const type = typesOf.get(exchange.site)?.(path) ?? "text/html; charset=utf-8";
      return body ? withPage(reply, exchange, type, body) : reply;
    },
  };
}

/** Whether a browser asks in order to show what comes back. */
function isForPerson({ method, headers: { accept, range } }: Exchange): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && range === undefined && preferredType(accept, ["application/json", "text/html"]) === "text/html";
}

async function contentOf(exchange: Exchange, path: string): Promise<Uint8Array | undefined> {
  const { site } = exchange;
  try {
    for (const { storage } of site.handled) {
      const file = await storage.open(path);
      if (!file) continue;
      try {
        return file.stat.size <= maxPageBytes ? await file.bytes() : undefined;
      } finally {
        await file.close();
      }
    }
  } catch (error) {
    site.report(error, exchange); // the client gets the error that it was about to get
  }
  return undefined;
}

function withPage(reply: Reply, { site }: Exchange, type: string, body: Uint8Array): Reply {
  const { "content-security-policy": _ofBuiltIn, ...headers } = reply.headers;
  const own = { "content-type": type, ...(site.options.untrustedContent && { "content-security-policy": "sandbox" }) };
  return variesBy({ ...reply, headers: { ...headers, ...own }, body }, "accept");
}
