import { pluginOptions, requestPath } from "../../options/option-types.ts";
import type { OptionsSchema } from "../../options/schema.ts";

export const mcpOptions: OptionsSchema = pluginOptions({ path: requestPath });
