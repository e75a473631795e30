import { onTestFinished } from "vitest";
import type { FileRequest } from "../../src/files/file-request.ts";
import { servingOf } from "../../src/files/file-request.ts";
import { namesBudget } from "../../src/files/names-budget.ts";
import { contentTypeTable } from "../../src/http/content-type.ts";
import { HttpError } from "../../src/http/http-error.ts";
import type { Access, Right, SelectedElements } from "../../src/server/access.ts";
import { type Change, ChangeFeed } from "../../src/server/change-feed.ts";
import { Exchange } from "../../src/server/exchange.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import type { FileOptions, Site } from "../../src/server/site.ts";
import type { Storage } from "../../src/storage/storage.ts";

/** What a test says of a request; the rest is as plain as can be. */
export interface Asked {
  readonly method?: string;
  /** As the client spelled it. @default the path */
  readonly url?: string;
  readonly mount?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly string[];
  readonly options?: Partial<FileOptions>;
  readonly permits?: (right: Right, path: string) => boolean;
  readonly isGuardedAlike?: Site["isGuardedAlike"];
}

/** A request as an operation gets it from the file handler, and the changes that it announces. */
export interface AskedRequest extends FileRequest {
  readonly changes: readonly Change[];
}

const options: FileOptions = {
  index: "index.html",
  cacheControl: undefined,
  download: false,
  headers: undefined,
  extensions: [],
  single: false,
  ignores: [],
  listing: true,
  title: undefined,
  dotfiles: "ignore",
  contentTypes: {},
  createParents: true,
  untrustedContent: false,
  precompressed: false,
  compress: false,
  maxFileSize: 1000,
  maxDocumentSize: 1000,
  maxDocumentDepth: 512,
  maxParseSteps: 256 * 1024 * 1024,
  maxMatches: 100,
  maxEdits: 1000,
  maxSelectorLength: 4096,
  maxSelectorCompounds: 64,
  maxSelectionSteps: 20_000_000,
  documentCacheSize: 1_000_000,
  elementBodyMemory: 1_000_000,
  refuseFragments: false,
  dav: undefined,
  beforeWrite: undefined,
  dialect: "spec",
};

/** Makes the request for a path that the file handler would hand to an operation, without a server. */
export async function fileRequest(storage: Storage, path: string, asked: Asked = {}): Promise<AskedRequest> {
  const exchange = exchangeFor(path, asked);
  const changes: Change[] = [];
  exchange.site.changes.subscribe((change) => changes.push(change));
  onTestFinished(() => exchange.end());
  const isRead = exchange.method === "GET" || exchange.method === "HEAD";
  const file = isRead ? await storage.open(path) : undefined;
  if (file) exchange.defer(() => file.close());
  const stat = file?.stat ?? (await storage.stat(path));
  return {
    exchange,
    path,
    storage,
    root: "/",
    stat,
    options: { ...options, ...asked.options },
    serving: servingOf({ ...options, ...asked.options }, "/"),
    contentTypeOf: contentTypeTable({}),
    openListing: namesBudget(500_000),
    ...(file && { file }),
    changes,
  };
}

function exchangeFor(path: string, { method = "GET", url = path, mount = "", headers = {}, ...more }: Asked): Exchange {
  async function* content(): AsyncGenerator<Uint8Array> {
    for (const piece of more.body ?? []) yield Buffer.from(piece);
  }
  const { signal } = new AbortController();
  const count = (field: string): number => (field in headers ? 1 : 0);
  const exchange = new Exchange({
    incoming: { method, url, mount, headers, httpVersion: "1.1", signal: () => signal, content, count } as never,
    site: {
      options: { ...options, ...more.options },
      isGuardedAlike: more.isGuardedAlike ?? (() => true),
      changes: new ChangeFeed((error) => {
        throw error;
      }),
      report: (error: unknown) => {
        throw error;
      },
    } as never,
    path,
    search: url.includes("?") ? url.slice(url.indexOf("?")) : "",
    host: "example.com",
    clients: { address: () => "127.0.0.1" },
    protocol: "http",
  });
  if (more.permits) exchange.access = accessOf(more.permits);
  return exchange;
}

/** A rule about whole paths, where `elements` is left out, and about elements. */
export type Permits = (right: Right, path: string, elements?: SelectedElements | "any") => boolean;

/** Access by a rule; left out, the refusal is one that nothing else makes. */
export function accessOf(permits: Permits, refusal = new HttpError(401, "REFUSED", "Who are you?")): Access {
  return { permitsPath: permits, permitsElements: permits, refusal: () => refusal };
}

/** A plugin that sets these rules for what comes behind it. */
export function guardBy(...rules: Parameters<typeof accessOf>): Plugin {
  return {
    name: "guard",
    handle(exchange, next) {
      exchange.access = accessOf(...rules);
      return next();
    },
  };
}
