import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Reply } from "./reply.ts";
import { isStream, type Sent } from "./send-reply.ts";

/** A reply as a `Response` of the Fetch standard; `sent` settles when its content was read to the end or given up. */
export function fetchReply(reply: Reply): { response: Response; sent: Promise<Sent> } {
  const { status, body } = reply;
  const headers = fetchHeaders(reply);
  if (!isStream(body)) {
    const bytes = body === undefined ? 0 : Buffer.byteLength(body);
    return {
      response: new Response((body ?? null) as BodyInit | null, { status, headers }),
      sent: Promise.resolve({ bytes, aborted: false }),
    };
  }
  let bytes = 0;
  body.on("data", (chunk: Uint8Array) => {
    bytes += chunk.byteLength;
  });
  body.pause(); // counting alone must not set it flowing
  const sent = finished(body).then(
    () => ({ bytes, aborted: false }),
    () => ({ bytes, aborted: true }),
  );
  return { response: new Response(Readable.toWeb(body) as ReadableStream, { status, headers }), sent };
}

function fetchHeaders(reply: Reply): Headers {
  const headers = new Headers({ date: new Date().toUTCString() });
  for (const [name, value] of Object.entries(reply.headers)) {
    for (const each of typeof value === "string" ? [value] : value) headers.append(name, each);
  }
  return headers;
}
