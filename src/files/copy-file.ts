import { entityTag } from "../http/entity-tag.ts";
import { notFound } from "../http/http-error.ts";
import { locationOf } from "../http/request-target.ts";
import type { Exchange } from "../server/exchange.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import { type CommitCheck, StorageError, type StoredStat, type WriteResult } from "../storage/storage.ts";
import { makeChange, preconditionCheck } from "./commit.ts";
import { type Destination, destinationOf } from "./destination.ts";
import type { FileRequest } from "./file-request.ts";

/** COPY of a file: what it holds now becomes the file at `Destination` (201 created, 204 replaced). */
export async function copyFile(request: FileRequest): Promise<Reply> {
  const judge = preconditionCheck(request.exchange);
  judge(request.stat);
  const destination = await destinationOf(request);
  const { made } = await copyTo(request, destination, judge);
  return placedReply(request.exchange, destination.path, made);
}

/** Copies one version of the file, which `judge` is shown, and announces what that has made. */
export async function copyTo(
  request: FileRequest,
  { path, stat, check }: Destination,
  judge: CommitCheck,
): Promise<{ made: WriteResult; copied: StoredStat }> {
  const { exchange, storage } = request;
  const file = await storage.open(request.path);
  if (!file) throw notFound();
  try {
    // Its content is coded, and a storage takes plain content only.
    if (file.stat.fields?.["content-encoding"]) throw new StorageError("encoded");
    judge(file.stat);
    const kind = (stored: StoredStat | undefined) => (stored ? "replaced" : "created");
    const wanted = { kind, content: file.stream(), check };
    const made = await makeChange({ ...request, path, stat }, wanted, (content, check) =>
      storage.write(path, content, { check, createParents: false }),
    );
    announcePlaced(exchange, path, made);
    return { made, copied: file.stat };
  } finally {
    await file.close();
  }
}

export function announcePlaced(exchange: Exchange, path: string, { created, stat }: WriteResult): void {
  exchange.changed({ kind: created ? "created" : "replaced", path, etag: entityTag(stat.version), size: stat.size });
}

export function placedReply(exchange: Exchange, path: string, { created, stat }: WriteResult): Reply {
  const etag = entityTag(stat.version);
  return created ? emptyReply(201, { location: locationOf(exchange, path), etag }) : emptyReply(204, { etag });
}
