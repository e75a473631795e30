import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { clientNetwork } from "../http/client-address.ts";
import { HttpError } from "../http/http-error.ts";
import { tooLarge } from "./admission.ts";

/** Slower content gives its memory up if others need it: reserving costs a client nothing. */
const leastBytesPerSecond = 64 * 1024;
/** How long a client may take to come to speed, in seconds. */
const graceSeconds = 5;
/** Refused clients come back one after the other, within so many seconds. */
const spreadSeconds = 8;

interface Upload {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  readonly body: AsyncIterable<Uint8Array>;
  /** Calls `release` when the request is over. */
  defer(release: () => unknown): void;
}

/** The content of one request, as far as it has come. */
interface HeldBody {
  readonly client: string;
  /** In milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** The memory that it has; `size` bytes of it are in use. */
  memory: Buffer;
  size: number;
  isComplete: boolean;
}

/** The memory for the content of element requests: it is held as a whole until the request is over. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bodies = new Set<HeldBody>();
  #refused = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The content of a request. All requests together hold no more than allowed, those of one address no more than half
   * of it; where there is no room, 503 `OVERLOADED`, by `Content-Length` before any of it is read. Throws 413 beyond
   * `mostBytes`, and beyond what one address may hold.
   */
  async read(exchange: Upload, mostBytes: number): Promise<Uint8Array> {
    const maxSize = Math.min(mostBytes, Math.floor(this.#maxBytes / 2));
    const announced = Number(exchange.headers["content-length"] ?? 0);
    if (announced > maxSize) throw tooLarge(maxSize);
    const client = clientNetwork(exchange.address);
    const body: HeldBody = {
      client,
      startedAt: performance.now(),
      memory: Buffer.alloc(0),
      size: 0,
      isComplete: false,
    };
    this.#bodies.add(body);
    exchange.defer(() => this.#bodies.delete(body));
    this.#reserve(body, announced);
    for await (const chunk of exchange.body) {
      const size = body.size + chunk.byteLength;
      if (size > maxSize) throw tooLarge(maxSize);
      if (!this.#bodies.has(body)) throw this.#overloaded(); // it was too slow
      // Memory doubles, so that small pieces are seldom copied.
      if (size > body.memory.byteLength)
        this.#reserve(body, Math.min(maxSize, Math.max(size, 2 * body.memory.byteLength)));
      body.memory.set(chunk, body.size);
      body.size = size;
    }
    body.isComplete = true;
    return body.memory.subarray(0, body.size);
  }

  #reserve(body: HeldBody, size: number): void {
    const more = size - body.memory.byteLength;
    for (const other of this.#bodies) {
      if (other === body || !isSlow(other)) continue;
      if (this.#fits(body, more)) break;
      if (other.client === body.client || this.#held() + more > this.#maxBytes) this.#bodies.delete(other);
    }
    if (!this.#fits(body, more)) {
      this.#bodies.delete(body);
      throw this.#overloaded();
    }
    const memory = Buffer.allocUnsafe(size);
    body.memory.copy(memory, 0, 0, body.size);
    body.memory = memory;
  }

  #fits({ client }: HeldBody, more: number): boolean {
    return this.#held() + more <= this.#maxBytes && this.#held(client) + more <= this.#maxBytes / 2;
  }

  /** The bytes that all requests hold, or those of one client. */
  #held(client?: string): number {
    let bytes = 0;
    for (const body of this.#bodies)
      if (client === undefined || body.client === client) bytes += body.memory.byteLength;
    return bytes;
  }

  #overloaded(): HttpError {
    const details = "Too many elements are being sent at once; try again shortly.";
    this.#refused += 1;
    const seconds = 1 + (this.#refused % spreadSeconds);
    return new HttpError(503, "OVERLOADED", details, { headers: { "retry-after": String(seconds) } });
  }
}

function isSlow({ size, startedAt, isComplete }: HeldBody): boolean {
  const seconds = (performance.now() - startedAt) / 1000;
  return !isComplete && size < leastBytesPerSecond * (seconds - graceSeconds);
}
