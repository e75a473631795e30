import { entityTag } from "../http/entity-tag.ts";
import { formatHttpDate } from "../http/http-date.ts";
import { evaluatePreconditions, preconditionFailed } from "../http/preconditions.ts";
import type { Exchange } from "../server/exchange.ts";
import { jsonReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import type { CommitCheck, StoredStat } from "../storage/storage.ts";

/**
 * Judges the preconditions of a change (RFC 9110 §13); throws 412 if they fail. Operations call it twice: before they
 * read the content, and again under the file's lock, when no other change can come in between.
 */
export function preconditionCheck({ method, headers }: Exchange): CommitCheck {
  return (current) => {
    const validators = current && { etag: entityTag(current.version), modified: current.modified };
    if (evaluatePreconditions(method, headers, validators) !== "proceed") throw preconditionFailed(validators);
  };
}

/** The reply's description of the stored file. */
export function storedReply(status: 200 | 201, path: string, stat: StoredStat, headers: ReplyHeaders = {}): Reply {
  const etag = entityTag(stat.version);
  return jsonReply(
    status,
    { path, size: stat.size, etag },
    {
      ...headers,
      etag,
      "last-modified": formatHttpDate(stat.modified),
    },
  );
}
