import { pluginOptions, positiveInteger, requestPath, timerSeconds } from "../../options/option-types.ts";
import { type OptionsSchema, yesOrNo } from "../../options/schema.ts";

/** What the options are checked against. */
export const webSocketOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  documents: yesOrNo,
  maxClients: positiveInteger,
  maxClientsPerAddress: positiveInteger,
  pingInterval: timerSeconds,
  maxUnsentBytes: positiveInteger,
});
