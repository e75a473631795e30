import { Buffer } from "node:buffer";
import { entityTag } from "../http/entity-tag.ts";
import { HttpError } from "../http/http-error.ts";
import { decidedContent } from "../server/before-write.ts";
import type { Reply } from "../server/reply.ts";
import type { CommitCheck, WriteResult } from "../storage/storage.ts";
import { preconditionCheck } from "./commit.ts";
import { announcePlaced, copyTo, placedReply } from "./copy-file.ts";
import { type Destination, destinationOf } from "./destination.ts";
import type { FileRequest } from "./file-request.ts";

/** MOVE of a file: one step where the storage can, else a copy and then a deletion of just what was copied. */
export async function moveFile(request: FileRequest): Promise<Reply> {
  const { exchange, stat } = request;
  const judge = preconditionCheck(exchange);
  judge(stat);
  const destination = await destinationOf(request);
  const made = await moveTo(request, destination, judge);
  return placedReply(exchange, destination.path, made);
}

/** Moves the version of the file that `judge` is shown, and announces both changes. */
export async function moveTo(request: FileRequest, destination: Destination, judge: CommitCheck): Promise<WriteResult> {
  const { exchange, storage, path, options } = request;
  let source: string | undefined;
  const check: CommitCheck = (current) => {
    judge(current);
    source = exchange.follows;
  };
  const { check: checkTarget } = destination;
  // The host program decides about content, so that is copied.
  const moved = options.beforeWrite ? undefined : await storage.move?.(path, destination.path, { check, checkTarget });
  if (moved) {
    announcePlaced(exchange, destination.path, moved);
    exchange.follows = source; // which the deletion is on top of
  }
  const made = moved ?? (await copyAndDelete(request, destination, judge));
  exchange.changed({ kind: "deleted", path });
  return made;
}

async function copyAndDelete(request: FileRequest, destination: Destination, judge: CommitCheck): Promise<WriteResult> {
  const { exchange, storage, path, options } = request;
  const { beforeWrite } = options;
  // Before the copy: what it refuses leaves everything as it was.
  if (beforeWrite) await decidedContent(beforeWrite, { kind: "deleted", path, exchange, content: Buffer.alloc(0) });
  const { made, copied } = await copyTo(request, destination, judge);
  const check: CommitCheck = (current) => {
    exchange.follows = current ? entityTag(current.version) : "";
    if (current?.version === copied.version) return;
    throw new HttpError(409, "WRITE_CONFLICT", "The file was changed while it was copied; both are there. Look again.");
  };
  await storage.remove(path, { check });
  return made;
}
