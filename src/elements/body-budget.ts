import { Buffer } from "node:buffer";
import { HttpError } from "../http/http-error.ts";
import { clientNetwork } from "../server/admission.ts";
import type { Exchange } from "../server/exchange.ts";
import { tooLarge } from "../server/request-body.ts";

/** The memory for the content of element requests: it is held as a whole until the request is over. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #byClient = new Map<string, number>();
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The content of a request. Throws 413 beyond `maxSize`, and 503 `OVERLOADED` when all requests together hold too much, or
   * those of one address more than half of it: before any of it is read, where `Content-Length` says so.
   */
  async read(exchange: Pick<Exchange, "headers" | "body" | "address" | "defer">, maxSize: number): Promise<Uint8Array> {
    const client = clientNetwork(exchange.address);
    const chunks: Uint8Array[] = [];
    let size = 0;
    exchange.defer(() => this.#hold(client, -size));
    this.#require(client, size, Math.min(Number(exchange.headers["content-length"] ?? 0), maxSize));
    for await (const chunk of exchange.body) {
      if (size + chunk.byteLength > maxSize) throw tooLarge(maxSize);
      this.#require(client, size, chunk.byteLength);
      this.#hold(client, chunk.byteLength);
      size += chunk.byteLength;
      chunks.push(chunk);
    }
    const [only] = chunks;
    return chunks.length === 1 && only ? only : Buffer.concat(chunks);
  }

  #hold(client: string, bytes: number): void {
    this.#held += bytes;
    const own = (this.#byClient.get(client) ?? 0) + bytes;
    if (own > 0) this.#byClient.set(client, own);
    else this.#byClient.delete(client);
  }

  /** For `more` bytes of a request that holds `size` already. One without others beside it may always have its content. */
  #require(client: string, size: number, more: number): void {
    const own = this.#byClient.get(client) ?? 0;
    const isTooMuch = this.#held > size && this.#held + more > this.#maxBytes;
    const isTooMuchOfOne = own > size && own + more > this.#maxBytes / 2;
    if (!isTooMuch && !isTooMuchOfOne) return;
    const details = "Too many elements are being sent at once; try again shortly.";
    throw new HttpError(503, "OVERLOADED", details, { headers: { "retry-after": "2" } });
  }
}
