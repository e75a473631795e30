import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";

interface Version {
  readonly commit: string;
}

/** What a tool has answered: of these fields, which are those of all tools, the ones that a test expects of it. */
interface Told {
  readonly code: string;
  readonly content: string;
  readonly diff: string;
  readonly edits: readonly unknown[];
  readonly elements: readonly [{ readonly selector: string; readonly html: string; readonly etag: string }];
  readonly entries: readonly unknown[];
  readonly etag: string;
  readonly found: readonly { readonly path: string }[];
  readonly isWritten: boolean;
  readonly more: string;
  readonly next: unknown;
  readonly now: { readonly near: readonly unknown[]; readonly elementTag: string };
  readonly outline: string;
  readonly path: string;
  readonly versions: readonly [Version, Version];
}

export interface Answer {
  readonly isError: boolean;
  readonly told: Told;
}

/** A client of the protocol, connected until the test is over. */
export interface Agent {
  readonly client: Client;
  call(name: string, args: Record<string, unknown>): Promise<Answer>;
}

/** Connects to a server over HTTP, as a user where `user:password` is given. */
export async function connectAgent(
  url: string,
  credentials?: string,
  path = "/mcp",
  mode: "auto" | "legacy" = "legacy",
): Promise<Agent> {
  const authorization = `Basic ${Buffer.from(credentials ?? "").toString("base64")}`;
  const requestInit = credentials === undefined ? {} : { headers: { authorization } };
  return agentOf(new StreamableHTTPClientTransport(new URL(url + path), { requestInit }), mode);
}

/** A client that speaks over a transport. */
export async function agentOf(
  transport: Parameters<Client["connect"]>[0],
  mode: "auto" | "legacy" = "legacy",
): Promise<Agent> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    async call(name, args) {
      const { isError = false, structuredContent } = await client.callTool({ name, arguments: args });
      return { isError, told: structuredContent as unknown as Told };
    },
  };
}
