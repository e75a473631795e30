import { checkOptions } from "../options/check-config.ts";
import type { Plugin } from "../server/plugin.ts";
import { mcpDoor } from "./mcp/door.ts";
import { mcpOptions } from "./mcp/options.ts";

/** Options for {@link mcp}. */
export interface McpOptions {
  /** Path of the endpoint. @default "/mcp" */
  readonly path?: string | undefined;
  /** Largest message in bytes; the content of a file to be written is part of one. @default 4194304 (4 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /** Clients that may be told of changes at once; more are refused. @default 1000 */
  readonly maxSubscriptions?: number | undefined;
}

/**
 * Lets language models list, read and edit files by the Model Context Protocol (Streamable HTTP, stateless). Each call
 * of a tool is a request of its user to this host: plugins, rules, limits and logs treat it as any other. Takes the
 * package `@modelcontextprotocol/server`. Throws a `ConfigError` for options that cannot work, and at the start where
 * that package is missing, or `basicAuth` stands behind.
 *
 * @example createFileServer({ root: "site", plugins: [basicAuth({ authfile: "users.html" }), mcp()] });
 */
export function mcp(options: McpOptions = {}): Plugin {
  checkOptions("mcp", mcpOptions, options);
  return mcpDoor(options).plugin;
}
