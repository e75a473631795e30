import { entityTag } from "../http/entity-tag.ts";
import type { Reply } from "../reply.ts";
import { tooLarge } from "../request-body.ts";
import type { CommitCheck } from "../storage/storage.ts";
import { preconditionCheck, refuseEncodedContent, storedReply } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";

/** POST to a file: the content is added to its end, all of it or nothing. */
export async function appendFile(request: FileRequest): Promise<Reply> {
  const { exchange, storage, options, path } = request;
  const meetsPreconditions = preconditionCheck(exchange);
  meetsPreconditions(request.stat);
  refuseEncodedContent(exchange);
  let appended = 0;
  const check: CommitCheck = (current) => {
    meetsPreconditions(current);
    if ((current?.size ?? 0) + appended > options.maxFileSize) throw tooLarge(options.maxFileSize);
  };
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of exchange.body) {
      appended += chunk.byteLength;
      yield chunk;
    }
  }
  const { stat } = await storage.append(path, counted(), { check });
  exchange.changed({ kind: "appended", path, etag: entityTag(stat.version) });
  return storedReply(200, path, stat);
}
