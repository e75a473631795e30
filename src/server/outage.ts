import { HttpError } from "../http/http-error.ts";

/** Why a server answers nobody for the moment. */
export type Outage = "CLOSING" | "MAINTENANCE" | "OVERLOADED";

/** Seconds after which asking again is worth the while. */
const retryAfter: Readonly<Record<Outage, string>> = { CLOSING: "5", MAINTENANCE: "60", OVERLOADED: "1" };

const details: Readonly<Record<Outage, string>> = {
  CLOSING: "The server is shutting down. Try again shortly.",
  MAINTENANCE: "The server is under maintenance. Try again shortly.",
  OVERLOADED: "The server is overloaded. Try again shortly.",
};

/** The 503 that everybody gets during an outage. */
export function unavailable(outage: Outage): HttpError {
  return new HttpError(503, outage, details[outage], { headers: { "retry-after": retryAfter[outage] } });
}
