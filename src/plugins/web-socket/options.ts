import { z } from "zod";
import { serialisedOrigin } from "../../http/cross-site.ts";
import { isCanonicalPath } from "../../http/request-path.ts";

const path = "a path as requests have it: decoded, and from the root";
const count = "a positive whole number";
const seconds = "a positive number of seconds, a million at most";
const origin = "an origin as browsers send it, such as https://admin.example";

/** What the options are checked against. */
export const webSocketOptions: z.ZodType = z
  .strictObject(
    {
      path: z.string("a path").refine(isCanonicalPath, path),
      documents: z.boolean("true or false"),
      maxClients: z.int(count).positive(count),
      allowedOrigins: z.array(
        z.string("an origin").refine((value) => serialisedOrigin(value) === value, origin),
        "a list of origins",
      ),
      pingInterval: z.number(seconds).positive(seconds).max(1_000_000, seconds), // a timer waits 24 days at most
      maxUnsentBytes: z.int(count).positive(count),
      maxMessageBytes: z.int(count).positive(count),
    },
    "an object of options",
  )
  .partial();
