import { buffer } from "node:stream/consumers";
import { entityTag } from "../http/entity-tag.ts";
import { formatHttpDate } from "../http/http-date.ts";
import { evaluatePreconditions, isPast, preconditionFailed } from "../http/preconditions.ts";
import { locationOf } from "../http/request-target.ts";
import { decidedContent, type FileWrite } from "../server/before-write.ts";
import type { Exchange } from "../server/exchange.ts";
import { jsonReply, type Reply } from "../server/reply.ts";
import { type CommitCheck, type Content, StorageError, type StoredStat } from "../storage/storage.ts";
import type { FileRequest } from "./file-request.ts";

/** Judges the preconditions (412): before the content is read, and again under the file's lock. */
export function preconditionCheck(exchange: Exchange): CommitCheck {
  const { method, headers } = exchange;
  return (current) => {
    exchange.follows = current ? entityTag(current.version) : "";
    const validators = current && { etag: entityTag(current.version), modified: current.modified };
    if (evaluatePreconditions(method, headers, validators) !== "proceed") throw preconditionFailed(validators);
  };
}

/** Most times that a change is begun again because another program changed the file in between. */
const maxAttempts = 10;

/** Makes a change after `beforeWrite` has decided, which decides again where the file has changed in between. */
export async function makeChange<Made>(
  { exchange, storage, path, stat, options }: FileRequest,
  {
    kind,
    content,
    check,
  }: {
    /** What kind of change it is, by what is stored now. */
    kind(stored: StoredStat | undefined): FileWrite["kind"];
    readonly content: Content;
    readonly check: CommitCheck;
  },
  make: (content: Content, check: CommitCheck) => Promise<Made>,
): Promise<Made> {
  const { beforeWrite } = options;
  if (!beforeWrite) return make(content, check);
  const sent = await buffer(content);
  const hasChanged = new StorageError("conflict");
  let stored = stat;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const decidedAbout = stored;
    check(decidedAbout);
    const decided = await decidedContent(beforeWrite, { kind: kind(decidedAbout), path, exchange, content: sent });
    try {
      return await make(onePiece(decided ?? sent), (current) => {
        if (current?.version !== decidedAbout?.version) throw hasChanged;
        check(current);
      });
    } catch (error) {
      if (error !== hasChanged) throw error;
      stored = await storage.stat(path);
    }
  }
  throw hasChanged;
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes;
}

export function announce(
  exchange: Exchange,
  kind: "created" | "replaced" | "appended",
  path: string,
  { version, size }: StoredStat,
): void {
  exchange.changed({ kind, path, etag: entityTag(version), size });
}

/** The reply about a file that was stored; 201 says where it is. */
export function storedReply(exchange: Exchange, status: 200 | 201, path: string, stat: StoredStat): Reply {
  const etag = entityTag(stat.version);
  const headers = {
    etag,
    ...(status === 201 && { location: locationOf(exchange, path) }),
    ...(isPast(stat.modified) && { "last-modified": formatHttpDate(stat.modified) }),
  };
  return jsonReply(status, { path, size: stat.size, etag }, headers);
}
