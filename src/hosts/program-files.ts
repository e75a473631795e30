import { Buffer } from "node:buffer";
import type { Edit } from "../html/edit/edits.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import { canonicalPath } from "../http/request-target.ts";
import type { FileHistory, VersionList } from "../server/file-history.ts";
import type { InnerAnswer, InnerRequest } from "../server/plugin.ts";
import { askInside } from "./inner-exchange.ts";
import type { LifeCycle } from "./life-cycle.ts";
import type { HostedSite, VirtualHosts } from "./site.ts";

/** Where the host program reads and writes. */
export interface ProgramOptions {
  /** Name of the host. @default the one without a name, or else the first */
  readonly host?: string;
}

/** How the host program writes. */
export interface ProgramWriteOptions extends ProgramOptions {
  /** The entity tag that the file has to have; `"*"` for any file. @default any file, or none */
  readonly ifMatch?: string;
  /** Name of the user for whom it is done, for logs and change events. @default none */
  readonly user?: string;
}

/** What the host program has read. */
export interface ReadFile {
  /** Of the file; or the elements as they stand in the page, in its order. */
  readonly content: Buffer;
  /** Entity tag of the content; of elements it is theirs, and missing without a match. */
  readonly etag: string | undefined;
  /** How many elements there are, where a selector was given. */
  readonly matches: number | undefined;
}

/** What a write of the host program has left. */
export interface WrittenFile {
  /** Whether nothing was there before. */
  readonly created: boolean;
  /** Of the file now. */
  readonly etag: string;
}

/** What a list of edits has done. */
export interface EditedPage {
  /** Entity tag of the page now. */
  readonly etag: string;
  /** For each edit, how many elements it was about. */
  readonly edits: readonly { readonly matches: number }[];
}

/**
 * Files for the host program, past all plugins: no sign-in, no rule, no rate limit, and neither `methods` nor
 * `readOnly`. Limits, `beforeWrite`, locks and events are as for a request, and plugins that observe hear of it. Each
 * rejects with the {@link HttpError} that a client would be answered, or a `TypeError` for what it does not take.
 */
export interface ProgramFiles {
  /**
   * Reads a file, or the elements of a page that a CSS selector selects. `at` is a moment, or the name of a commit: the
   * file as it was, with the plugin `history`.
   */
  read(path: string, selector?: string, options?: ProgramOptions & { readonly at?: Date | string }): Promise<ReadFile>;
  /** Stores a file, as PUT does. */
  write(path: string, content: string | Uint8Array, options?: ProgramWriteOptions): Promise<WrittenFile>;
  /** Makes a list of edits of a page, all or nothing, as PATCH does. */
  edit(path: string, edits: readonly Edit[], options?: ProgramWriteOptions): Promise<EditedPage>;
  /** The versions of a file, newest first, with the plugin `history`: 50 by default, `after` the `next` of a list. */
  history(
    path: string,
    options?: ProgramOptions & { readonly limit?: number; readonly after?: string },
  ): Promise<VersionList>;
  /** Undoes one commit; 409 `WRITE_CONFLICT` where it no longer fits. `undefined` where the file is gone with it. */
  revert(path: string, commit: string, options?: ProgramWriteOptions): Promise<WrittenFile | undefined>;
}

type Asked = ProgramWriteOptions & Pick<InnerRequest, "method" | "path" | "headers" | "content" | "inspection">;

export function programFiles(life: LifeCycle, hosts: VirtualHosts): ProgramFiles {
  const ask = async ({ user, host, ifMatch, headers, ...asked }: Asked): Promise<InnerAnswer> => {
    const site = siteOf(hosts, host);
    const name = host ?? (site.name === "*" ? "localhost" : site.name);
    const fields = { ...headers, ...(ifMatch !== undefined && { "if-match": ifMatch }) };
    const program = { ...asked, headers: fields, host: name, user, mostBytes: Number.POSITIVE_INFINITY };
    const answered = await askInside(life, site, program);
    if (answered.error) throw answered.error;
    const isListing = answered.status === 200 && asked.method === "GET" && answered.headers["etag"] === undefined;
    if (answered.status === 301 || isListing) throw new HttpError(405, "IS_DIRECTORY", "The path is a directory.");
    return answered;
  };
  const fileAt = async (path: string, { host }: ProgramOptions): Promise<string> => {
    await life.ready();
    return siteOf(hosts, host).versionedPath(canonicalPath(path));
  };
  const historyOf = ({ host }: ProgramOptions): FileHistory => {
    const { history } = siteOf(hosts, host);
    if (!history) throw new HttpError(404, "NOT_FOUND", "The host has no history: list the plugin `history`.");
    return history;
  };
  return {
    async read(asked, selector, { at, ...options } = {}) {
      const range = selector === undefined ? {} : { range: `selector=${Buffer.from(selector).toString("latin1")}` };
      if (typeof at === "object" && Number.isNaN(at.getTime())) throw new TypeError("files.read: `at` is not a date");
      const path = at === undefined ? asked : await fileAt(asked, options);
      const storage = at === undefined ? undefined : await historyOf(options).storageAt(path, at);
      if (at !== undefined && !storage) throw notFound();
      const inspection = storage && { storage };
      const { headers, content } = await ask({ ...options, method: "GET", path, headers: range, inspection });
      const [etag, matches] = [headers["etag"]?.toString(), headers["x-selector-matches"]];
      return { content, etag, matches: matches === undefined ? undefined : Number(matches) };
    },
    async write(path, content, options = {}) {
      if (content === undefined) throw new TypeError("files.write: expected a string or a Uint8Array");
      const { status, headers } = await ask({ ...options, method: "PUT", path, content });
      return { created: status === 201, etag: String(headers["etag"]) };
    },
    async edit(path, edits, options = {}) {
      const headers = { "content-type": "application/json" };
      const asked = { ...options, method: "PATCH", path, headers, content: JSON.stringify(edits) };
      return JSON.parse((await ask(asked)).content.toString()) as EditedPage;
    },
    async history(path, options = {}) {
      const file = await fileAt(path, options);
      return historyOf(options).list(file, options.limit ?? 50, options.after);
    },
    async revert(asked, commit, options = {}) {
      const { host } = options;
      const path = await fileAt(asked, options);
      const found = await ask({ ...(host !== undefined && { host }), method: "GET", path }).catch(missing);
      const now = found?.file === path ? found : undefined; // not what stands in for it
      const content = await historyOf(options).restored(path, commit, "without", now?.content);
      const condition = now ? { ifMatch: options.ifMatch ?? String(now.headers["etag"]) } : {};
      const change = { ...options, ...condition, path, method: content === undefined ? "DELETE" : "PUT" };
      const headers = now ? {} : { "if-none-match": "*" };
      const answer = await ask(content === undefined ? change : { ...change, headers, content });
      return content && { created: answer.status === 201, etag: String(answer.headers["etag"]) };
    },
  };
}

function missing(error: unknown): undefined {
  if (error instanceof HttpError && error.status === 404) return undefined;
  throw error;
}

function siteOf(hosts: VirtualHosts, name: string | undefined): HostedSite {
  const [first] = hosts.sites;
  const site = name === undefined ? (hosts.sites.find((each) => each.name === "*") ?? first) : hosts.find(name);
  if (!site) throw new HttpError(421, "UNKNOWN_HOST", "No host of that name is served here.");
  return site;
}
