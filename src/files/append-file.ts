import { entityTag } from "../http/entity-tag.ts";
import { refuseEncodedContent, tooLarge } from "../server/admission.ts";
import type { Reply } from "../server/reply.ts";
import type { CommitCheck, Content, StoredStat } from "../storage/storage.ts";
import { makeChange, preconditionCheck, storedReply, type WantedChange } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";

/** POST to a file: the content is added to its end, all of it or nothing. */
export async function appendFile(request: FileRequest): Promise<Reply> {
  const { exchange, storage, options, path } = request;
  const meetsPreconditions = preconditionCheck(exchange);
  meetsPreconditions(request.stat);
  refuseEncodedContent(exchange.headers);
  const refuseTooLarge = (current: StoredStat | undefined, added: number): void => {
    if ((current?.size ?? 0) + added > options.maxFileSize) throw tooLarge(options.maxFileSize);
  };
  refuseTooLarge(request.stat, Number(exchange.headers["content-length"] ?? 0));

  let added = 0;
  async function* counted(content: Content): AsyncGenerator<Uint8Array> {
    added = 0;
    for await (const chunk of content) {
      added += chunk.byteLength;
      refuseTooLarge(request.stat, added);
      yield chunk;
    }
  }
  const check: CommitCheck = (current) => {
    meetsPreconditions(current);
    refuseTooLarge(current, added);
  };
  const wanted: WantedChange = { kind: () => "appended", content: exchange.body, check };
  const { stat } = await makeChange(request, wanted, (content, check) =>
    storage.append(path, counted(content), { check }),
  );
  // Nothing was added, so there is no change to announce.
  if (added > 0) exchange.changed({ kind: "appended", path, etag: entityTag(stat.version), size: stat.size });
  return storedReply(200, path, stat);
}
