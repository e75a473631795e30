import { Buffer } from "node:buffer";
import { HttpError } from "../http/http-error.ts";
import type { Exchange } from "../server/exchange.ts";
import { tooLarge } from "../server/request-body.ts";

/** The memory for the content of element requests: it is held as a whole until the request is over. */
export class BodyBudget {
  readonly #maxBytes: number;
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The content of a request. Throws 413 beyond `maxSize`, and 503 `OVERLOADED` when all requests together hold too much:
   * before any of it is read, where `Content-Length` says so.
   */
  async read(exchange: Pick<Exchange, "headers" | "body" | "defer">, maxSize: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    exchange.defer(() => {
      this.#held -= size;
    });
    this.#require(Math.min(Number(exchange.headers["content-length"] ?? 0), maxSize));
    for await (const chunk of exchange.body) {
      if (size + chunk.byteLength > maxSize) throw tooLarge(maxSize);
      this.#require(chunk.byteLength);
      this.#held += chunk.byteLength;
      size += chunk.byteLength;
      chunks.push(chunk);
    }
    const [only] = chunks;
    return chunks.length === 1 && only ? only : Buffer.concat(chunks);
  }

  /** A single request may always have its content. */
  #require(bytes: number): void {
    if (this.#held === 0 || this.#held + bytes <= this.#maxBytes) return;
    const details = "Too many elements are being sent at once; try again shortly.";
    throw new HttpError(503, "OVERLOADED", details, { headers: { "retry-after": "2" } });
  }
}
