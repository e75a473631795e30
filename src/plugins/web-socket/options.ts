import { z } from "zod";
import { serialisedOrigin } from "../../http/cross-site.ts";
import { pluginOptions, positiveInteger, requestPath, timerSeconds, yesOrNo } from "../../options/option-types.ts";

const origin = "an origin as browsers send it, such as https://admin.example";

/** What the options are checked against. */
export const webSocketOptions: z.ZodType = pluginOptions({
  path: requestPath,
  documents: yesOrNo,
  maxClients: positiveInteger,
  allowedOrigins: z.array(
    z.string("an origin").refine((value) => serialisedOrigin(value) === value, origin),
    "a list of origins",
  ),
  pingInterval: timerSeconds,
  maxUnsentBytes: positiveInteger,
  maxMessageBytes: positiveInteger,
});
