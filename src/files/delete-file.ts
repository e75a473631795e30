import { emptyReply, type Reply } from "../server/reply.ts";
import { preconditionCheck } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";

/** DELETE of a file, or of a directory, which must be empty. */
export async function deleteFile({ exchange, storage, path, stat }: FileRequest): Promise<Reply> {
  const check = preconditionCheck(exchange);
  check(stat);
  await storage.remove(path, { check });
  exchange.changed({ kind: "deleted", path });
  return emptyReply(204);
}
