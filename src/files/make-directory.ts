import { Buffer } from "node:buffer";
import { HttpError } from "../http/http-error.ts";
import { locationOf } from "../http/request-target.ts";
import { decidedContent } from "../server/before-write.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import { StorageError } from "../storage/storage.ts";
import { preconditionCheck } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";

/** MKCOL: makes a directory in one that exists (201). It is no file, so there is no event. */
export async function makeDirectory(request: FileRequest): Promise<Reply> {
  const { exchange, path: asked, stat } = request;
  const path = asked.endsWith("/") ? asked : `${asked}/`;
  const { headers } = exchange;
  if (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0) {
    throw new HttpError(415, "UNSUPPORTED_TYPE", "MKCOL takes no content.");
  }
  preconditionCheck(exchange)(stat);
  await makeDirectoryAt(request, path);
  return emptyReply(201, { location: locationOf(exchange, path) });
}

export async function makeDirectoryAt({ exchange, storage, options }: FileRequest, path: string): Promise<void> {
  const { beforeWrite } = options;
  if (!storage.makeDirectory) throw new StorageError("forbidden");
  if (beforeWrite) await decidedContent(beforeWrite, { kind: "created", path, exchange, content: Buffer.alloc(0) });
  await storage.makeDirectory(path);
}
