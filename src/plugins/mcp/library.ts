import { ConfigError } from "../../config.ts";

/** The protocol's own library, with what serves standard input and output. */
export type Library = typeof import("@modelcontextprotocol/server") &
  typeof import("@modelcontextprotocol/server/stdio");

let loading: Promise<Library> | undefined;

/** An optional dependency: not before a server with the plugin starts, and in `try`, where bundlers do not insist on it. */
export async function loadLibrary(): Promise<Library> {
  try {
    loading ??= Promise.all([
      import("@modelcontextprotocol/server"),
      import("@modelcontextprotocol/server/stdio"),
    ]).then(([server, stdio]) => ({ ...server, ...stdio }));
    return await loading;
  } catch {
    loading = undefined;
    const name = "@modelcontextprotocol/server";
    throw new ConfigError([`mcp: the package ${name} is missing: npm install ${name}`]);
  }
}
