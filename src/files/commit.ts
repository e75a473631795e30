import { buffer } from "node:stream/consumers";
import { entityTag } from "../http/entity-tag.ts";
import { evaluatePreconditions, isPast, preconditionFailed } from "../http/preconditions.ts";
import { locationOf } from "../http/request-target.ts";
import { decidedContent, type FileWrite } from "../server/before-write.ts";
import type { Exchange } from "../server/exchange.ts";
import { jsonReply, type Reply } from "../server/reply.ts";
import { PathLock } from "../storage/locks.ts";
import {
  type CommitCheck,
  type Content,
  type Storage,
  StorageError,
  type StoredStat,
  type WriteOptions,
  type WriteResult,
} from "../storage/storage.ts";
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

interface WantedChange {
  /** @default "created" or "replaced", by what is stored */
  readonly kind?: FileWrite["kind"];
  readonly content: Content;
  readonly check: CommitCheck;
}

/** One after the other for each path: else each would find the file changed by the others, and begin again. */
const decisions = new WeakMap<Storage, PathLock>();

/** Makes a change after `beforeWrite` has decided, which decides again where the file has changed in between. */
export async function makeChange<Made>(
  { exchange, storage, path, stat, options }: FileRequest,
  { kind, content, check }: WantedChange,
  make: (content: Content, check: CommitCheck) => Promise<Made>,
): Promise<Made> {
  const { beforeWrite } = options;
  if (!beforeWrite) return make(content, check);
  const sent = await buffer(content);
  const decided = async (kind: FileWrite["kind"]): Promise<Content> =>
    onePiece((await decidedContent(beforeWrite, { kind, path, exchange, content: sent })) ?? sent);
  if (kind === "appended") {
    check(stat);
    return make(await decided(kind), check); // whatever is there by then
  }
  const hasChanged = new StorageError("conflict");
  const inTurn = decisions.get(storage) ?? new PathLock();
  decisions.set(storage, inTurn);
  return inTurn.run(path, async () => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const stored = await storage.stat(path);
      check(stored);
      const wanted = await decided(kind ?? (stored ? "replaced" : "created"));
      try {
        return await make(wanted, (current) => {
          if (current?.version !== stored?.version) throw hasChanged;
          check(current);
        });
      } catch (error) {
        if (error !== hasChanged) throw error;
      }
    }
    throw hasChanged;
  });
}

export async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes;
}

/** Stores content as the file of a request, and announces it. */
export async function storeFile(
  request: FileRequest,
  content: Content,
  { check, createParents = false, exclusive = false }: WriteOptions & { readonly check: CommitCheck },
): Promise<WriteResult> {
  const { exchange, storage, path } = request;
  const made = await makeChange(request, { content, check }, (content, check) =>
    storage.write(path, content, { check, createParents, exclusive }),
  );
  announce(exchange, path, made);
  return made;
}

export function announce(exchange: Exchange, path: string, { created, stat }: WriteResult): void {
  const { version, size } = stat;
  exchange.changed({ kind: created ? "created" : "replaced", path, etag: entityTag(version), size });
}

/** The reply about a file that was stored; 201 says where it is. */
export function storedReply(exchange: Exchange, status: 200 | 201, path: string, stat: StoredStat): Reply {
  const etag = entityTag(stat.version);
  const headers = {
    etag,
    ...(status === 201 && { location: locationOf(exchange, path) }),
    ...(isPast(stat.modified) && { "last-modified": stat.modified.toUTCString() }),
  };
  return jsonReply(status, { path, size: stat.size, etag }, headers);
}
