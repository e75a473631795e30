import { pluginOptions, requestPath } from "../../options/option-types.ts";
import type { OptionsSchema } from "../../options/schema.ts";

/** What the options of the plugin are checked against. */
export const mcpOptions: OptionsSchema = pluginOptions({ path: requestPath });
