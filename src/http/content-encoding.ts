import type { IncomingHttpHeaders } from "node:http";
import { HttpError } from "./http-error.ts";

/** Refuses content that would have to be decoded before it could be stored: 415 `UNSUPPORTED_ENCODING`. */
export function refuseEncodedContent({ "content-encoding": encoding }: IncomingHttpHeaders): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  const details = "Send the content as it is to be stored, without Content-Encoding.";
  throw new HttpError(415, "UNSUPPORTED_ENCODING", details, { headers: { "accept-encoding": "identity" } });
}
