import type { Exchange } from "./exchange.ts";
import { bodyLength, discard, type Reply, type ReplyHeaders } from "./reply.ts";

/** Adds to a reply what every reply has, and takes away what does not go with its content. */
export function completeReply(
  { id, method }: Pick<Exchange, "id" | "method">,
  reply: Reply,
  serverHeader?: string,
): Reply {
  const { body, ...head } = reply;
  const headers: ReplyHeaders = {};
  for (const [name, value] of Object.entries(reply.headers)) headers[name.toLowerCase()] = value;
  headers["x-request-id"] = id;
  if (serverHeader !== undefined) headers["server"] ??= serverHeader;
  headers["x-content-type-options"] = "nosniff";
  delete headers["transfer-encoding"]; // how content is framed is settled between node and the client
  const hasNoContent = reply.status === 204 || reply.status === 304;
  // Of a HEAD without content only the operation can know what a GET would send.
  const length = hasNoContent || (method === "HEAD" && body === undefined) ? undefined : bodyLength(body);
  // Whatever was announced: a plugin may have changed the content.
  if (length !== undefined) headers["content-length"] = String(length);
  if (reply.status === 204) delete headers["content-length"]; // RFC 9110 §8.6
  if (!hasNoContent && method !== "HEAD" && body !== undefined) return { ...head, headers, body };
  discard(body);
  return { ...head, headers };
}
