import { ConfigError } from "../../config.ts";

/** The protocol's own library, with what serves standard input and output. */
export type Library = typeof import("@modelcontextprotocol/server") &
  typeof import("@modelcontextprotocol/server/stdio");

/** An optional dependency: not before a server with the plugin starts, and in `try`, where bundlers do not insist on it. */
export async function loadLibrary(): Promise<Library> {
  try {
    const server = await import("@modelcontextprotocol/server");
    const stdio = await import("@modelcontextprotocol/server/stdio");
    return { ...server, ...stdio };
  } catch {
    const name = "@modelcontextprotocol/server";
    throw new ConfigError([`mcp: the package ${name} is missing: npm install ${name}`]);
  }
}
