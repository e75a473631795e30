import { entityTag } from "../http/entity-tag.ts";
import { hasPreconditions } from "../http/preconditions.ts";
import { locationOf } from "../http/request-target.ts";
import { refuseEncodedContent } from "../server/admission.ts";
import type { Reply } from "../server/reply.ts";
import type { CommitCheck } from "../storage/storage.ts";
import { makeChange, preconditionCheck, storedReply, type WantedChange } from "./commit.ts";
import type { FileRequest } from "./file-request.ts";
import { withoutFragments } from "./refuse-fragments.ts";

/** PUT of a file: created (201) or replaced as a whole (200). */
export async function writeFile(request: FileRequest): Promise<Reply> {
  const { exchange, storage, options, path } = request;
  const judge = preconditionCheck(exchange);
  const check: CommitCheck = (current) => {
    // A user who may only create must not overwrite a file that another has created meanwhile.
    if (!exchange.access.permitsPath(current ? "overwrite" : "create", path)) throw exchange.access.refusal();
    judge(current);
  };
  check(request.stat);
  refuseEncodedContent(exchange.headers);
  const { createParents } = options;
  const wanted: WantedChange = {
    kind: (stored) => (stored ? "replaced" : "created"),
    content: await withoutFragments(request),
    check,
  };
  const { created, stat } = await makeChange(request, wanted, (content, check) =>
    storage.write(path, content, { check, createParents }),
  );
  exchange.changed({ kind: created ? "created" : "replaced", path, etag: entityTag(stat.version), size: stat.size });
  if (!created) return storedReply(200, path, stat);
  return storedReply(201, path, stat, { location: locationOf(exchange, path) });
}

/** Whether nothing of a PUT depends on what is there: the write itself finds that out, and checks the rights. */
export function replacesAnything(
  { method, headers, access }: FileRequest["exchange"],
  { beforeWrite }: FileRequest["options"],
  path: string,
): boolean {
  if (method !== "PUT" || path.endsWith("/") || hasPreconditions(headers) || beforeWrite) return false;
  return access.permitsPath("create", path) && access.permitsPath("overwrite", path);
}
