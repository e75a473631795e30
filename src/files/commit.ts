import { entityTag } from "../http/entity-tag.ts";
import { formatHttpDate } from "../http/http-date.ts";
import { evaluatePreconditions, preconditionFailed } from "../http/preconditions.ts";
import type { Exchange } from "../server/exchange.ts";
import { jsonReply, type Reply, type ReplyHeaders } from "../server/reply.ts";
import type { CommitCheck, StoredStat } from "../storage/storage.ts";

/**
 * Judges the preconditions of a change (RFC 9110 §13), and throws 412 where they fail. Operations ask it twice: before
 * they read the content, and again under the file's lock, when nobody else can come in between any more.
 */
export function preconditionCheck({ method, headers }: Exchange): CommitCheck {
  return (current) => {
    const validators = current && { etag: entityTag(current.version), modified: current.modified };
    if (evaluatePreconditions(method, headers, validators) !== "proceed") throw preconditionFailed(validators);
  };
}

/** What a client is told of the file that it stored. */
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
