import { Buffer } from "node:buffer";
import { fairQueue } from "../../event-loop/fair-queue.ts";
import { parseHttpDate } from "../../http/http-date.ts";
import { HttpError, methodNotAllowed, notFound } from "../../http/http-error.ts";
import { preferredType } from "../../http/negotiation.ts";
import { encodePath, locationOf } from "../../http/request-target.ts";
import { isSelectorRange } from "../../http/selector-range.ts";
import { clientOf, usageLimit } from "../../server/admission.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Version } from "../../server/file-history.ts";
import type { Inspection } from "../../server/inspection.ts";
import type { InnerAnswer, Next, PluginSite } from "../../server/plugin.ts";
import { emptyReply, jsonReply, type Reply, variesBy, withFields } from "../../server/reply.ts";
import { changesPage, historyPolicy, linksFor, type Undo, versionsPage } from "./page.ts";
import type { Recorder } from "./recorder.ts";
import type { Versions } from "./versions.ts";

export interface HistoryParts {
  readonly site: PluginSite;
  readonly versions: Versions;
  readonly recorder: Recorder;
  readonly maxFileBytes: number;
}

const pageSize = 50;
/** Longest differences, in bytes: as a text, and of each part of a page. */
const mostOfText = 4 * 1024 * 1024;
const mostOfPart = 256 * 1024;
/** Memory for contents that clients are sent or undo, in bytes; one address may have half of it. */
const contentMemory = 256 * 1024 * 1024;
const takeMemory = usageLimit(contentMemory);
/** Two differences are made at a time: each takes several processes, and all that they compare is in memory. */
const inTurn = fairQueue({ concurrency: 2 });
const addressed = /^(\/.*?)(?:\/([0-9a-f]{40}|[0-9a-f]{64})(\/changes)?)?$/;
/** Requests of this plugin that only ask whether their client may read a path; each plugin before judges that. */
const asking = new WeakSet<Inspection>();

/** Answers at the plugin's own path, tells of the versions of a file that is read, and passes on anything else. */
export function answerOfHistory(parts: HistoryParts, exchange: Exchange, next: Next): Promise<Reply> {
  const { inspection, path } = exchange;
  if (inspection ? asking.has(inspection) : path.startsWith(parts.versions.base)) return ownAnswer(parts, exchange);
  return isReading(exchange) && !inspection ? withTimeMap(parts.versions, exchange, next) : next();
}

function isReading({ method }: Exchange): boolean {
  return method === "GET" || method === "HEAD";
}

async function ownAnswer(parts: HistoryParts, exchange: Exchange): Promise<Reply> {
  const { inspection, path, method } = exchange;
  if (inspection) {
    if (!exchange.access.permitsPath("read", path)) throw exchange.access.refusal();
    return emptyReply(204);
  }
  const [, named = "", commit, changes] = addressed.exec(path.slice(parts.versions.base.length - 1)) ?? [];
  const isRead = isReading(exchange);
  const isReadOnly = named === "/" || changes !== undefined;
  if (!isRead && (method !== "POST" || isReadOnly))
    throw methodNotAllowed(isReadOnly ? "GET, HEAD" : "GET, HEAD, POST");
  if (named === "/") return latest(parts, exchange);
  const file = await exchange.site.versionedPath(named);
  if (!parts.versions.covers(file)) throw notFound();
  if (method === "POST" && commit !== undefined) return undo(parts, exchange, file, commit);
  // With a selector, who may read some elements only is judged by what the selector finds in that version.
  const isPart = commit !== undefined && !changes && isSelectorRange(exchange.header("range"));
  const refused = isPart ? undefined : await refusal(parts, exchange, file);
  if (refused) return refused;
  if (commit === undefined) return isRead ? list(parts, exchange, file) : undoLast(parts, exchange, file);
  if (!changes) return memento(parts, exchange, file, commit);
  return inTurn(clientOf(exchange), () => difference(parts, exchange, file, commit));
}

/** Has memory for contents of a request until its reply is sent; at most as much as there is. */
function reserve(exchange: Exchange, bytes: number): void {
  exchange.defer(takeMemory(exchange.address, Math.min(bytes, contentMemory / 2)));
}

function replyOf({ status, headers, content }: InnerAnswer): Reply {
  return { status, headers: { ...headers }, body: content };
}

/** What keeps the client from reading a file; `undefined` for nothing. */
async function refusal({ site }: HistoryParts, client: Exchange, path: string): Promise<Reply | undefined> {
  const inspection: Inspection = {};
  asking.add(inspection);
  const answer = await site.ask({ method: "GET", path, client, inspection, mostBytes: 64 * 1024 });
  return answer.status === 204 ? undefined : replyOf(answer);
}

/** Of everything that the client has a choice of. */
const chosen = { vary: "accept", "cache-control": "no-cache" } as const;

function page(exchange: Exchange, body: string): Reply {
  reserve(exchange, body.length);
  const type = { "content-type": "text/html; charset=utf-8", "content-security-policy": historyPolicy };
  return { status: 200, headers: { ...type, ...chosen }, body };
}

async function latest(parts: HistoryParts, exchange: Exchange): Promise<Reply> {
  const judged = new Map<string, boolean>();
  const versions: Version[] = [];
  for (const version of await parts.versions.recent(2 * pageSize)) {
    const { path } = version;
    const known = judged.get(path) ?? (parts.versions.covers(path) && !(await refusal(parts, exchange, path)));
    judged.set(path, known);
    if (known && versions.length < pageSize) versions.push(version);
  }
  const type = preferredType(exchange.header("accept"), ["application/json", "text/html"]);
  if (type !== "text/html") return jsonReply(200, { versions }, chosen);
  return page(exchange, versionsPage(undefined, { versions, next: undefined }, linksFor(exchange, parts.versions)));
}

async function list(parts: HistoryParts, exchange: Exchange, path: string): Promise<Reply> {
  const after = new URLSearchParams(exchange.search).get("after") ?? undefined;
  const found = await parts.versions.list(path, pageSize, after);
  if (found.versions.length === 0) throw notFound();
  const links = linksFor(exchange, parts.versions);
  const type = preferredType(exchange.header("accept"), ["application/json", "text/html", "application/link-format"]);
  if (type === "text/html") return page(exchange, versionsPage(path, found, links));
  if (type === "application/json") return jsonReply(200, { path, ...found }, chosen);
  const all = [
    `<${links.file(path)}>; rel="original timegate"`,
    `<${links.history(path)}>; rel="self"; type="application/link-format"`,
    ...found.versions.map(
      ({ commit, time }) => `<${links.history(path, commit)}>; rel="memento"; datetime="${time.toUTCString()}"`,
    ),
  ];
  const headers = { ...chosen, "content-type": "application/link-format" };
  return { status: 200, headers, body: `${all.join(",\n")}\n` };
}

/** What a plain GET of a version gives, with all that a file can do. */
async function readVersion(
  { site, versions, maxFileBytes }: HistoryParts,
  client: Exchange,
  version: Version,
  headers: Record<string, string>,
): Promise<InnerAnswer> {
  const storage = await versions.storageOf(version);
  if (!storage) throw new HttpError(404, "NOT_FOUND", "The file was deleted by this change.");
  const asked = { method: "GET", path: version.path, client, headers, mostBytes: 4 * maxFileBytes };
  return site.ask({ ...asked, inspection: { storage } });
}

async function memento(parts: HistoryParts, exchange: Exchange, path: string, commit: string): Promise<Reply> {
  const version = await parts.versions.known(path, commit);
  reserve(exchange, 2 * (version.size ?? 0));
  const names = ["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];
  const sent = names.flatMap((name) => {
    const value = exchange.header(name);
    return value === undefined ? [] : [[name, value]];
  });
  const reply = replyOf(await readVersion(parts, exchange, version, Object.fromEntries(sent)));
  if (reply.status >= 400) return reply;
  const links = linksFor(exchange, parts.versions);
  return withFields(reply, {
    "memento-datetime": version.time.toUTCString(),
    "cache-control": "no-cache",
    link: `<${links.file(path)}>; rel="original timegate latest-version", <${links.history(path)}>; rel="timemap version-history"`,
  });
}

async function difference(parts: HistoryParts, exchange: Exchange, path: string, commit: string): Promise<Reply> {
  const { versions } = parts;
  const version = await versions.known(path, commit);
  // The rights to a difference are those to both versions: rules by elements are about what is in each.
  const before = await versions.before(version);
  for (const each of [version, before]) {
    if (!each?.etag) continue;
    const answer = await readVersion(parts, exchange, each, {});
    if (answer.status >= 400) return replyOf(answer);
  }
  const contents = [before && (await versions.content(before)), await versions.content(version)] as const;
  const type = preferredType(exchange.header("accept"), ["text/x-diff", "text/html"]);
  if (type === "text/x-diff") {
    const { text, isCut } = await versions.compared(contents, 3, mostOfText);
    if (isCut) throw new HttpError(413, "RESULT_TOO_LARGE", "Too much has changed: compare the versions yourself.");
    reserve(exchange, text.length);
    const name = encodePath(path).slice(1);
    const headers = { "content-type": "text/x-diff; charset=utf-8", ...chosen };
    return { status: 200, headers, body: text === "" ? "" : `--- a/${name}\n+++ b/${name}\n${text}` };
  }
  const current = await currentOf(parts, exchange, path);
  const mayUndo = !current.refused && exchange.access.permitsPath("overwrite", path);
  const undoes = mayUndo ? await Promise.all([undoOf("without"), undoOf("as")]) : [];
  const diff = await versions.compared(contents, 0, mostOfPart);
  return page(exchange, changesPage(version, diff, { undoes, etag: current.etag }, linksFor(exchange, parts.versions)));

  async function undoOf(how: "without" | "as"): Promise<Undo> {
    const content = await restored(parts, { path, commit, how, current }).catch((error: unknown) => {
      if (error instanceof HttpError && error.status === 409) return "conflict" as const;
      throw error;
    });
    if (content === "conflict") return { how, outcome: content, diff: { text: "", isCut: false } };
    const diff = await versions.compared([current.now, content], 0, mostOfPart);
    const isSame = content === undefined ? current.now === undefined : current.now?.equals(content);
    return { how, outcome: isSame ? "same" : content === undefined ? "deleted" : "changed", diff };
  }
}

type Current = Awaited<ReturnType<typeof currentOf>>;

/** A file as the client may read it now; `refused` is what is answered where it may not. */
async function currentOf({ site, maxFileBytes }: HistoryParts, client: Exchange, path: string) {
  const answer = await site.ask({ method: "GET", path, client, mostBytes: maxFileBytes + 1 });
  const isFound = answer.status === 200;
  const isThere = isFound && answer.file === path;
  return {
    now: isThere ? answer.content : undefined,
    etag: isThere ? answer.headers["etag"]?.toString() : undefined,
    refused: isFound || answer.status === 404 ? undefined : replyOf(answer),
  };
}

/** What undoing makes of a file; `undefined` for no file. */
async function restored(
  { versions, maxFileBytes }: HistoryParts,
  { path, commit, how, current }: { path: string; commit: string; how: "without" | "as"; current: Current },
): Promise<Buffer | undefined> {
  // Only its beginning was read: the rest must not be lost.
  if (how === "without" && (current.now?.length ?? 0) > maxFileBytes) {
    throw new HttpError(409, "WRITE_CONFLICT", "The file has become too large to undo one change of it.");
  }
  return versions.restored(path, commit, how, current.now);
}

/** Undoes the latest change by the client's user, if that is one of the last. */
async function undoLast(parts: HistoryParts, exchange: Exchange, path: string): Promise<Reply> {
  const { versions } = await parts.versions.list(path, pageSize);
  const own = versions.find(({ user, summary }) => user === exchange.user?.name && !summary.startsWith("Found "));
  if (!own) throw new HttpError(404, "NOT_FOUND", "The user has changed nothing here of late.");
  return undo(parts, exchange, path, own.commit);
}

async function undo(parts: HistoryParts, exchange: Exchange, path: string, commit: string): Promise<Reply> {
  const form = new URLSearchParams(Buffer.from(await exchange.body.bytes(64 * 1024)).toString());
  const wanted = exchange.header("if-match") ?? form.get("if-match") ?? undefined;
  const how = new URLSearchParams(exchange.search).has("to") ? "as" : "without";
  const current = await currentOf(parts, exchange, path);
  if (current.refused) return current.refused;
  const { now, etag } = current;
  reserve(exchange, 3 * (now?.length ?? 0));
  if (wanted !== undefined && wanted !== etag) {
    throw new HttpError(412, "PRECONDITION_FAILED", "The file has changed meanwhile; nothing was done.", {
      headers: etag === undefined ? {} : { etag },
    });
  }
  const content = await inTurn(clientOf(exchange), () => restored(parts, { path, commit, how, current }));
  if (content === undefined && now === undefined) throw notFound();
  const condition: Record<string, string> = now === undefined ? { "if-none-match": "*" } : { "if-match": etag ?? "*" };
  const id = `${exchange.id.slice(0, 120)}.undo`;
  const { notes } = parts.recorder;
  notes.set(id, `${how === "as" ? "Go back to" : "Undo"} ${commit.slice(0, 10)} of ${path}`);
  const method = content === undefined ? "DELETE" : "PUT";
  const headers = { ...condition, "x-request-id": id, accept: "application/json" };
  const asked = { method, path, client: exchange, headers, content, mostBytes: 64 * 1024 };
  const answer = await parts.site.ask(asked).finally(() => notes.delete(id));
  const type = preferredType(exchange.header("accept"), ["application/json", "text/html"]);
  if (answer.status >= 400 || type !== "text/html") return replyOf(answer);
  return emptyReply(303, { location: locationOf(exchange, parts.versions.base.slice(0, -1) + path) });
}

/** Tells of the versions of a file, and answers `Accept-Datetime` with the one of then (RFC 7089 §4.2.1). */
async function withTimeMap(versions: Versions, exchange: Exchange, next: Next): Promise<Reply> {
  const { site, access } = exchange;
  const links = linksFor(exchange, versions);
  const timeMap = (path: string): string => `<${links.history(path)}>; rel="timemap version-history"`;
  const asked = exchange.header("accept-datetime");
  if (asked !== undefined && access.permitsPath("read", exchange.path)) {
    const time = parseHttpDate(asked);
    if (!time) throw new HttpError(400, "INVALID_QUERY", "`Accept-Datetime` is not a date of HTTP.");
    const path = await site.versionedPath(exchange.path);
    const isOpen = versions.covers(path) && access.permitsPath("read", path);
    const version = isOpen ? await versions.at(path, time) : undefined;
    if (version) {
      return emptyReply(302, {
        location: links.history(path, version.commit),
        vary: "accept-datetime",
        link: `<${links.file(path)}>; rel="original", ${timeMap(path)}`,
        "cache-control": "no-cache",
      });
    }
  }
  const reply = await next();
  const { file } = exchange;
  if (file === undefined || !versions.covers(file) || reply.status >= 400) return reply;
  return variesBy(
    withFields(reply, { link: [reply.headers["link"] ?? [], timeMap(file)].flat().join(", ") }),
    "accept-datetime",
  );
}
