import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { HttpError } from "../http/http-error.ts";

/** A request as host programs have it: of `node:http` and so of Express, of `node:http2`, or of the Fetch standard. */
export type HostRequest = IncomingMessage | Http2ServerRequest | Request;

/** Where the content of a request comes from. */
interface ContentSource {
  content(): AsyncIterable<Uint8Array>;
}

/** The error of a request whose content passes the size limit. */
export function tooLarge(maxFileSize: number): HttpError {
  return new HttpError(413, "FILE_TOO_LARGE", `A file here holds at most ${maxFileSize} bytes.`);
}

/**
 * The content of a request, in pieces as they arrive. Iterating fails with 413 as soon as the size limit is passed, and
 * with 400 where the client sends less than it announced.
 */
export class RequestBody implements AsyncIterable<Uint8Array> {
  readonly #source: ContentSource;
  readonly #maxFileSize: number;

  constructor(source: ContentSource, maxFileSize: number) {
    this.#source = source;
    this.#maxFileSize = maxFileSize;
  }

  /** All of the content. `maxBytes` is a limit below the server's own. */
  async bytes(maxBytes: number = this.#maxFileSize): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
    const [only] = chunks;
    return chunks.length === 1 && only ? only : Buffer.concat(chunks);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    let size = 0;
    for await (const chunk of this.#source.content()) {
      size += chunk.byteLength;
      if (size > this.#maxFileSize) throw tooLarge(this.#maxFileSize);
      yield chunk;
    }
  }
}

/** Refuses content that would have to be decoded before it could be stored: 415 `UNSUPPORTED_ENCODING`. */
export function refuseEncodedContent({ "content-encoding": encoding }: IncomingHttpHeaders): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  const details = "Send the content as it is to be stored, without Content-Encoding.";
  throw new HttpError(415, "UNSUPPORTED_ENCODING", details, { headers: { "accept-encoding": "identity" } });
}
