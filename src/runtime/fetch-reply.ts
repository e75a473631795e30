import { Buffer } from "node:buffer";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { bodyLength, isStream, type Reply, type Sent } from "../server/reply.ts";

export interface FetchedReply {
  readonly response: Response;
  /** Settles when the content was read to the end, or given up; known at once of content that is not a stream. */
  readonly sent: Sent | Promise<Sent>;
  /** Gives the content up, unless reading has begun. */
  abandon(): void;
}

/** A reply as a `Response`, given up when `signal` is aborted. Throws for header fields that HTTP does not know. */
export function fetchReply(reply: Reply, signal: AbortSignal): FetchedReply {
  const { status, body } = reply;
  const headers = headersOf(reply); // before: the Response of some hosts adds a type to content without one
  if (!isStream(body)) {
    const bytes = bodyLength(body) ?? 0;
    // As bytes: of text the standard would say that it is text/plain.
    const content = typeof body === "string" ? Buffer.from(body) : (body ?? null);
    const response = new Response(content as BodyInit | null, { status, headers });
    return { response, sent: { bytes, aborted: false }, abandon: () => {} };
  }
  const { content, sent, giveUp } = readOnDemand(body, signal);
  const response = new Response(content, { status, headers });
  return { response, sent, abandon: () => response.bodyUsed || content.locked || giveUp() };
}

/** A stream of node as one of the web, which asks for a piece when its reader does. */
function readOnDemand(body: Readable, signal: AbortSignal) {
  const pieces: AsyncIterator<string | Uint8Array> = body[Symbol.asyncIterator]();
  let bytes = 0;
  let isGivenUp = false;
  const giveUp = (): void => {
    isGivenUp = true;
    body.destroy();
  };
  const sent: Promise<Sent> = finished(body, { writable: false })
    .then(
      () => ({ bytes, aborted: false }),
      (failure: unknown) => ({ bytes, aborted: true, ...(!isGivenUp && { failure }) }),
    )
    .finally(() => signal.removeEventListener("abort", giveUp));
  const content = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) return controller.close();
        const piece = typeof value === "string" ? Buffer.from(value) : value;
        bytes += piece.byteLength;
        controller.enqueue(piece);
      },
      cancel: giveUp,
    },
    { highWaterMark: 0 },
  );
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp, { once: true });
  return { content, sent, giveUp };
}

/** Adds the fields to those of the `Response`: one made of others checks and copies each of them again. */
function headersOf(reply: Reply): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(reply.headers)) {
    // The standard would make the text "undefined" of it; node refuses it, too.
    if (value === undefined) throw new TypeError(`header field "${name}" has no value`);
    for (const each of Array.isArray(value) ? value : [value]) headers.append(name, each);
  }
  if (!headers.has("date")) headers.set("date", new Date().toUTCString());
  return headers;
}
