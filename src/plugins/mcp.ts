import { checkOptions } from "../options/check-config.ts";
import type { Plugin } from "../server/plugin.ts";
import { mcpDoor, mcpOptions } from "./mcp/door.ts";

/** Options for {@link mcp}. */
export interface McpOptions {
  /** Path of the endpoint. @default "/mcp" */
  readonly path?: string | undefined;
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
  return mcpDoor(options.path).plugin;
}
