import { pluginOptions, positiveInteger, requestPath } from "../../options/option-types.ts";
import type { OptionsSchema } from "../../options/schema.ts";

/** What {@link mcpOptions} checks. */
export interface DoorOptions {
  readonly path?: string | undefined;
  readonly maxMessageBytes?: number | undefined;
  readonly maxSubscriptions?: number | undefined;
}

export const mcpOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  maxMessageBytes: positiveInteger,
  maxSubscriptions: positiveInteger,
});
