import { pluginOptions, positiveInteger, requestPath } from "../../options/option-types.ts";
import type { OptionsSchema } from "../../options/schema.ts";

/** Options for {@link mcp}. */
export interface McpOptions {
  /** Path of the endpoint. @default "/mcp" */
  readonly path?: string | undefined;
  /** Largest message in bytes; the content of a file to be written is part of one. @default 4194304 (4 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /** Clients that may be told of changes at once; more are refused. @default 1000 */
  readonly maxSubscriptions?: number | undefined;
}

export const mcpOptions: OptionsSchema = pluginOptions({
  path: requestPath,
  maxMessageBytes: positiveInteger,
  maxSubscriptions: positiveInteger,
});
