import { emptyReply, type Reply } from "../server/reply.ts";
import { makeChange, preconditionCheck, type WantedChange } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";

/** DELETE of a file, or of a directory, which must be empty. */
export async function deleteFile(request: FileRequest): Promise<Reply> {
  const { exchange, storage, path, stat } = request;
  const check = preconditionCheck(exchange);
  check(stat);
  const wanted: WantedChange = { kind: () => "deleted", content: nothing(), check };
  await makeChange(request, wanted, (_content, check) => storage.remove(path, { check }));
  exchange.changed({ kind: "deleted", path });
  return emptyReply(204);
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
