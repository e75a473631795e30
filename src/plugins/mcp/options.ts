import { pluginOptions, positiveInteger, requestPath } from "../../options/option-types.ts";
import type { OptionsSchema } from "../../options/schema.ts";

/** The options of the plugin, all of them given. */
export interface DoorOptions {
  readonly path: string;
  readonly maxMessageBytes: number;
  readonly maxSubscriptions: number;
}

export const mcpDefaults: DoorOptions = { path: "/mcp", maxMessageBytes: 4 * 1024 * 1024, maxSubscriptions: 1000 };

/** What the options are checked against. */
export const mcpOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  maxMessageBytes: positiveInteger,
  maxSubscriptions: positiveInteger,
});
