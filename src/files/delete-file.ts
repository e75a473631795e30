import { emptyReply, type Reply } from "../server/reply.ts";
import type { CommitCheck } from "../storage/storage.ts";
import { makeChange, preconditionCheck } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";

/** DELETE of a file, or of a directory, which must be empty. */
export async function deleteFile(request: FileRequest): Promise<Reply> {
  const { exchange, path, stat } = request;
  const check = preconditionCheck(exchange);
  check(stat);
  await removeAt(request, check);
  exchange.changed({ kind: "deleted", path });
  return emptyReply(204);
}

export async function removeAt(request: FileRequest, check: CommitCheck = () => {}): Promise<void> {
  const { storage, path } = request;
  const wanted = { kind: () => "deleted" as const, content: nothing(), check };
  await makeChange(request, wanted, (_content, check) => storage.remove(path, { check }));
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
