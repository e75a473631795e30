import { pluginOptions, positiveInteger, requestPath } from "../../options/option-types.ts";
import type { OptionsSchema } from "../../options/schema.ts";

/** What the options are checked against. */
export const mcpOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  maxMessageBytes: positiveInteger,
  maxSubscriptions: positiveInteger,
});
