import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { networkOf } from "../http/client-address.ts";
import { HttpError, withoutTrace } from "../http/http-error.ts";

/** Why a server answers nobody for the moment. */
type Outage = "CLOSING" | "MAINTENANCE" | "OVERLOADED";

/** Seconds after which asking again is worth the while. */
const retryAfter: Readonly<Record<Outage, string>> = { CLOSING: "5", MAINTENANCE: "60", OVERLOADED: "1" };

const details: Readonly<Record<Outage, string>> = {
  CLOSING: "The server is shutting down. Try again shortly.",
  MAINTENANCE: "The server is under maintenance. Try again shortly.",
  OVERLOADED: "The server is overloaded. Try again shortly.",
};

/** The 503 that everybody gets during an outage. */
export function unavailable(outage: Outage): HttpError {
  const headers = { "retry-after": retryAfter[outage] };
  return withoutTrace(() => new HttpError(503, outage, details[outage], { headers }));
}

/** What counts as one client: an IPv4 address, or the 64 bits of an IPv6 address that a provider gives to one. */
function clientNetwork(address: string): string {
  return networkOf(address, 64);
}

/** Bounds how much of something is in use at once: in all, and for each client address. */
export class Places {
  readonly #max: number;
  readonly #maxPerAddress: number;
  readonly #byNetwork = new Map<string, number>();
  #taken = 0;

  /** By default one address can take half of the places. */
  constructor(max: number, maxPerAddress: number = Math.ceil(max / 2)) {
    this.#max = max;
    this.#maxPerAddress = maxPerAddress;
  }

  /** Takes a place for a client, and returns how to give it back. Throws 503 where there is none left for it. */
  take(address: string): () => void {
    const network = clientNetwork(address);
    const own = this.#byNetwork.get(network) ?? 0;
    if (this.#taken >= this.#max || own >= this.#maxPerAddress) throw unavailable("OVERLOADED");
    this.#taken += 1;
    this.#byNetwork.set(network, own + 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack(network);
      isTaken = false;
    };
  }

  #giveBack(network: string): void {
    this.#taken -= 1;
    const left = (this.#byNetwork.get(network) ?? 0) - 1;
    if (left > 0) this.#byNetwork.set(network, left);
    else this.#byNetwork.delete(network);
  }
}

/** A request with content. */
interface Upload {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  readonly body: AsyncIterable<Uint8Array>;
  /** Calls `release` when the request is over. */
  defer(release: () => unknown): void;
}

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
  async read(exchange: Upload, maxSize: number): Promise<Uint8Array> {
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

/** The error of a request whose content passes the size limit. */
export function tooLarge(maxFileSize: number): HttpError {
  return new HttpError(413, "FILE_TOO_LARGE", `A file here holds at most ${maxFileSize} bytes.`);
}

/** Refuses content that would have to be decoded before it could be stored: 415 `UNSUPPORTED_ENCODING`. */
export function refuseEncodedContent({ "content-encoding": encoding }: IncomingHttpHeaders): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  const details = "Send the content as it is to be stored, without Content-Encoding.";
  throw new HttpError(415, "UNSUPPORTED_ENCODING", details, { headers: { "accept-encoding": "identity" } });
}
