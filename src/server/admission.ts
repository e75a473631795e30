import type { IncomingHttpHeaders } from "node:http";
import type { Client } from "../event-loop/fair-queue.ts";
import { clientNetwork } from "../http/client-address.ts";
import { HttpError, withoutTrace } from "../http/http-error.ts";
import type { User } from "./access.ts";

/** Why a server refuses all requests for the moment. */
type Outage = "CLOSING" | "MAINTENANCE" | "OVERLOADED";

/** With the seconds after which asking again is worth the while. */
const outages: Readonly<Record<Outage, readonly [retryAfter: string, what: string]>> = {
  CLOSING: ["5", "is shutting down"],
  MAINTENANCE: ["60", "is under maintenance"],
  OVERLOADED: ["1", "is overloaded"],
};

export function unavailable(outage: Outage): HttpError {
  const [retryAfter, what] = outages[outage];
  const headers = { "retry-after": retryAfter };
  return withoutTrace(() => new HttpError(503, outage, `The server ${what}. Try again shortly.`, { headers }));
}

/** Whose turn it is when a request does what takes long. */
export function clientOf({ address, user }: { readonly address: string; readonly user: User | undefined }): Client {
  return { address, account: user?.name ?? "", isKnown: user !== undefined };
}

/** Takes a place for a client, or several, and returns how to give them back. Throws 503 where too few are left. */
export type TakePlace = (address: string, count?: number) => () => void;

/** Bounds how much is in use at once, in all and for each client address: half of the places. */
export function usageLimit(max: number): TakePlace {
  const byNetwork = new Map<string, number>();
  let taken = 0;
  return (address, count = 1) => {
    const network = clientNetwork(address);
    const own = byNetwork.get(network) ?? 0;
    if (taken + count > max || own + count > Math.ceil(max / 2)) throw unavailable("OVERLOADED");
    taken += count;
    byNetwork.set(network, own + count);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      taken -= count;
      const left = (byNetwork.get(network) ?? 0) - count;
      if (left > 0) byNetwork.set(network, left);
      else byNetwork.delete(network);
    };
  };
}

export function tooLarge(maxFileSize: number): HttpError {
  return new HttpError(413, "FILE_TOO_LARGE", `A file here holds at most ${maxFileSize} bytes.`);
}

/** Refuses content that would have to be decoded before it could be stored: 415 `UNSUPPORTED_ENCODING`. */
export function refuseEncodedContent({ "content-encoding": encoding }: IncomingHttpHeaders): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  const details = "Send the content as it is to be stored, without Content-Encoding.";
  throw new HttpError(415, "UNSUPPORTED_ENCODING", details, { headers: { "accept-encoding": "identity" } });
}
