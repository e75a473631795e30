import { Buffer } from "node:buffer";
import { clientNetwork } from "../http/client-address.ts";
import { HttpError } from "../http/http-error.ts";
import { tooLarge } from "./admission.ts";
import type { Exchange } from "./exchange.ts";

/** Slower content gives its memory up if others need it: reserving costs a client nothing. */
const leastBytesPerSecond = 64 * 1024;
/** How long a client may take to come to speed, in seconds. */
const graceSeconds = 5;
/** Those who are refused at one moment come back one after the other, within so many seconds. */
const spreadSeconds = 8;

interface Upload extends Pick<Exchange, "headers" | "address" | "defer"> {
  readonly body: AsyncIterable<Uint8Array>;
}

/** What several bodies hold. Counted as it changes: a sum over thousands of them would stop the event loop. */
class Share {
  bodies = 0;
  /** Those of them that wait for room. */
  waiting = 0;
  bytes = 0;
}

/** The content of one request, as far as it has come. */
interface HeldBody {
  /** That of its client. */
  readonly share: Share;
  /** The memory that it has; `size` bytes of it are in use. */
  memory: Buffer;
  size: number;
  /** For how long the client was waited for; `undefined` once all is there. */
  seconds: number | undefined;
  /** Goes on where the content waits for room. */
  wake?: (() => void) | undefined;
}

/** The memory for the content of element requests: it is held as a whole until the request is over. */
export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bodies = new Set<HeldBody>();
  readonly #all = new Share();
  readonly #shares = new Map<string, Share>();
  /** Those that were slow when they were last looked at. */
  readonly #slow = new Set<HeldBody>();
  #clock: NodeJS.Timeout | undefined;
  #refused = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The content of a request. All requests together hold no more than allowed, those of one address no more than half
   * of it. Content whose `Content-Length` does not fit is 503 `OVERLOADED` before any of it is read; where the length
   * is not known, reading waits for room. Throws 413 beyond `mostBytes`, and beyond what one address may hold.
   */
  async read(exchange: Upload, mostBytes: number): Promise<Uint8Array> {
    const maxSize = Math.min(mostBytes, Math.floor(this.#maxBytes / 2));
    const announced = Number(exchange.headers["content-length"] ?? 0);
    if (announced > maxSize) throw tooLarge(maxSize);
    const client = clientNetwork(exchange.address);
    const share = this.#shares.get(client) ?? new Share();
    const body: HeldBody = { share, memory: Buffer.alloc(0), size: 0, seconds: 0 };
    if (announced > 0 && !this.#reserve(body, announced)) throw this.#overloaded();
    this.#bodies.add(body);
    this.#shares.set(client, share);
    this.#count(body, { bodies: 1 });
    this.#clock ??= setInterval(() => this.#tick(), 1000).unref();
    exchange.defer(() => {
      this.#leave(body);
      if (share.bodies === 0 && this.#shares.get(client) === share) this.#shares.delete(client);
    });
    for await (const chunk of exchange.body) {
      const size = body.size + chunk.byteLength;
      if (size > maxSize) throw tooLarge(maxSize);
      while (this.#bodies.has(body) && size > body.memory.byteLength) await this.#grow(body, size, maxSize);
      if (!this.#bodies.has(body)) throw this.#overloaded(); // it was too slow
      body.memory.set(chunk, body.size);
      body.size = size;
    }
    body.seconds = undefined;
    return body.memory.subarray(0, body.size);
  }

  /** Makes room for `size` bytes, or waits for it. Memory doubles, so that small pieces are seldom copied. */
  async #grow(body: HeldBody, size: number, maxSize: number): Promise<void> {
    if (this.#reserve(body, Math.min(maxSize, Math.max(size, 2 * body.memory.byteLength)))) return;
    this.#count(body, { waiting: 1 });
    await new Promise<void>((resolve) => {
      body.wake = resolve;
    });
    this.#goOn(body);
  }

  #goOn(body: HeldBody): void {
    if (!body.wake) return;
    body.wake = undefined;
    this.#count(body, { waiting: -1 });
    if (isSlow(body)) this.#slow.add(body);
  }

  #reserve(body: HeldBody, size: number): boolean {
    const more = size - body.memory.byteLength;
    for (const other of this.#slow) {
      if (this.#fits(body, more)) break;
      const isInTheWay = other.share === body.share || this.#all.bytes + more > this.#maxBytes;
      if (isInTheWay && other !== body && isSlow(other)) this.#leave(other);
    }
    if (!this.#fits(body, more)) return false;
    const memory = Buffer.allocUnsafe(size);
    body.memory.copy(memory, 0, 0, body.size);
    body.memory = memory;
    this.#count(body, { bytes: more });
    return true;
  }

  /** Where all others wait for room as well, one of them has to go on. */
  #fits(body: HeldBody, more: number): boolean {
    const self = this.#bodies.has(body) ? 1 : 0;
    const isTooMuch = ({ bodies, waiting, bytes }: Share, most: number): boolean =>
      bytes + more > most && bodies - waiting > self;
    return !isTooMuch(this.#all, this.#maxBytes) && !isTooMuch(body.share, this.#maxBytes / 2);
  }

  #count({ share }: HeldBody, { bodies = 0, waiting = 0, bytes = 0 }: Partial<Share>): void {
    for (const each of [this.#all, share]) {
      each.bodies += bodies;
      each.waiting += waiting;
      each.bytes += bytes;
    }
  }

  /** Counts seconds in which the event loop has turned: a process that was stopped has not waited for its clients. */
  #tick(): void {
    for (const body of this.#bodies) {
      if (body.seconds !== undefined && !body.wake) body.seconds += 1;
      if (isSlow(body)) this.#slow.add(body);
    }
    this.#wake();
  }

  #leave(body: HeldBody): void {
    if (!this.#bodies.delete(body)) return;
    this.#goOn(body);
    this.#slow.delete(body);
    this.#count(body, { bodies: -1, bytes: -body.memory.byteLength });
    body.memory = Buffer.alloc(0);
    if (this.#bodies.size === 0) {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
    this.#wake();
  }

  #wake(): void {
    if (this.#all.waiting === 0) return;
    for (const { wake } of this.#bodies) wake?.();
  }

  #overloaded(): HttpError {
    const details = "Too many elements are being sent at once; try again shortly.";
    this.#refused += 1;
    const seconds = 1 + (this.#refused % spreadSeconds);
    return new HttpError(503, "OVERLOADED", details, { headers: { "retry-after": String(seconds) } });
  }
}

function isSlow({ size, seconds, wake }: HeldBody): boolean {
  return seconds !== undefined && !wake && size < leastBytesPerSecond * (seconds - graceSeconds);
}
