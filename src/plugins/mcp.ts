import { Buffer } from "node:buffer";
import { Readable, type Writable } from "node:stream";
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { ConfigError } from "../config.ts";
import { HttpError, methodNotAllowed } from "../http/http-error.ts";
import { hasMoreValues, valuesOfEdit } from "../http/json-values.ts";
import { checkOptions } from "../options/check-config.ts";
import { rightsOf } from "../server/access.ts";
import { unavailable, usageLimit } from "../server/admission.ts";
import { BodyBudget } from "../server/body-budget.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Inspection } from "../server/inspection.ts";
import type { Plugin, PluginSite } from "../server/plugin.ts";
import { emptyReply, type Reply } from "../server/reply.ts";
import { maxUnsentBytes } from "./live/live-client.ts";
import { type IsProven, provenPaths } from "./live/proven-paths.ts";
import { mcpOptions } from "./mcp/options.ts";
import { type Library, resourceOf, serversOf } from "./mcp/server.ts";

/** Options for {@link mcp}. */
export interface McpOptions {
  /** Path of the endpoint. @default "/mcp" */
  readonly path?: string | undefined;
}

/** The plugin `mcp`. */
export interface McpPlugin extends Plugin {
  /** @internal Serves standard input and output as the user of these header fields. Rejects where they are refused. */
  serve(input: Readable, output: Writable, headers: Record<string, string>): Promise<{ close(): Promise<void> }>;
}

/** Largest message, the content of a file to be written is part of one; and memory for those under way. In bytes. */
const maxMessageBytes = 4 * 1024 * 1024;
const messageMemory = 64 * 1024 * 1024;
/** Values that a message may have besides those of its edits. */
const otherValues = 4000;
/** Clients that may be told of changes at once; more are refused. */
const maxSubscriptions = 1000;

/** A host that has started. */
interface Place {
  readonly site: PluginSite;
  readonly isProven: IsProven;
  readonly library: Library;
  readonly serverFor: ReturnType<typeof serversOf>;
}

/**
 * Lets language models list, read and edit files by the Model Context Protocol (Streamable HTTP, stateless). Each call
 * of a tool is a request of its user to this host: plugins, rules, limits and logs treat it as any other. Takes the
 * package `@modelcontextprotocol/server`. Throws a `ConfigError` for options that cannot work, and at the start where
 * that package is missing, or `basicAuth` stands behind.
 *
 * @example createFileServer({ root: "site", plugins: [basicAuth({ authfile: "users.html" }), mcp()] });
 */
export function mcp(options: McpOptions = {}): McpPlugin {
  checkOptions("mcp", mcpOptions, options);
  const { path = "/mcp" } = options;
  const places = new Map<string, Place>();
  const bodies = new BodyBudget(messageMemory);
  const takePlace = usageLimit(maxSubscriptions);
  const listening = new Map<McpHttpHandler, Exchange>();
  /** Requests that ask only who the client of standard input is, with the exchange that they became. */
  const joined = new WeakMap<Inspection, Exchange | undefined>();

  /** Tells of changes of files that a client may read, as long as it may call tools; returns how to end that. */
  function listen(
    { site, isProven }: Place,
    { access: given }: Exchange,
    tell: (uri: string) => void,
    dismiss?: () => unknown,
  ): () => void {
    return site.changes.subscribe(
      ({ path: changed }, origin) => {
        const access = given.current?.() ?? given;
        if (!rightsOf("POST").some((right) => access.permitsPath(right, path))) return void dismiss?.();
        const mayHear = origin.site === site.name && isProven(path, changed) && access.permitsPath("read", changed);
        if (mayHear) tell(resourceOf(changed));
      },
      undefined,
      () => false, // whole files only
    );
  }

  async function answer(exchange: Exchange): Promise<Reply> {
    const place = places.get(exchange.site.name);
    if (!place) throw unavailable("CLOSING");
    const body = Uint8Array.from(await bodies.read(exchange, maxMessageBytes));
    const maxValues = valuesOfEdit * place.site.options.maxEdits + otherValues;
    if (hasMoreValues(Buffer.from(body).toString("latin1"), maxValues))
      throw new HttpError(400, "TOO_MANY_EDITS", `The message has more than ${maxValues} values.`);
    const handler = place.library.createMcpHandler(({ era }) => place.serverFor(exchange, era === "modern"));
    const isListening = exchange.header("mcp-method") === "subscriptions/listen"; // the library refuses it without
    if (isListening) {
      exchange.defer(takePlace(exchange.address));
      exchange.defer(listen(place, exchange, handler.notify.resourceUpdated, handler.close));
      exchange.defer(() => listening.delete(handler));
      listening.set(handler, exchange);
    }
    const { method, signal } = exchange;
    const headers = new Headers();
    for (const name of ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"]) {
      const value = exchange.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    const request = new Request(`http://localhost${path}`, { method, headers, signal, body });
    return replyOf(await handler.fetch(request), isListening);
  }

  const plugin: McpPlugin = {
    name: "mcp",
    async start(site) {
      const isProven = provenPaths(site, plugin, "mcp");
      const library = await loadLibrary();
      places.set(site.name, { site, isProven, library, serverFor: serversOf(library, site) });
    },
    async handle(exchange, next) {
      const { method, inspection } = exchange;
      if (exchange.path !== path) return next();
      if (inspection && joined.has(inspection)) {
        joined.set(inspection, exchange);
        return emptyReply(204);
      }
      if (method !== "POST" || inspection) throw methodNotAllowed("POST");
      return answer(exchange);
    },
    drain() {
      for (const handler of listening.keys()) void handler.close();
    },
    disconnect(isMeant) {
      const meant = [...listening].filter(([, exchange]) => isMeant({ user: exchange.user, exchange }));
      for (const [handler] of meant) void handler.close();
      return meant.length;
    },
    close() {
      places.clear();
    },
    async serve(input, output, headers) {
      const [place] = places.values();
      if (!place) throw unavailable("CLOSING");
      const inspection: Inspection = {};
      joined.set(inspection, undefined);
      const { status } = await place.site.ask({ method: "POST", path, headers, mostBytes: 0, inspection });
      const client = joined.get(inspection);
      if (!client) throw new Error(`the user may not use ${path}: the server answered ${status}`);
      const { serveStdio, StdioServerTransport } = place.library;
      return serveStdio(
        ({ era }) => {
          const { server } = place.serverFor(client, true);
          const wanted = new Set<string>();
          server.onclose = listen(place, client, (uri) => {
            if (era === "modern" || wanted.has(uri)) void server.sendResourceUpdated({ uri }).catch(() => {});
          });
          if (era === "modern") return server; // the library keeps what such a client wants
          server.setRequestHandler("resources/subscribe", ({ params }) => {
            wanted.add(params.uri);
            return {};
          });
          server.setRequestHandler("resources/unsubscribe", ({ params }) => {
            wanted.delete(params.uri);
            return {};
          });
          return server;
        },
        { transport: new StdioServerTransport(input, output, { maxBufferSize: maxMessageBytes }) },
      );
    },
  };

  return plugin;
}

/** An optional dependency: not before a server with the plugin starts; in a `try` bundlers do not insist on it. */
async function loadLibrary(): Promise<Library> {
  try {
    return {
      ...(await import("@modelcontextprotocol/server")),
      ...(await import("@modelcontextprotocol/server/stdio")),
    };
  } catch {
    const name = "@modelcontextprotocol/server";
    throw new ConfigError([`mcp: the package ${name} is missing: npm install ${name}`]);
  }
}

/** A `Response` of the library as a reply. Where it tells of changes, the client has to read them. */
function replyOf({ status, headers, body }: Response, isListening: boolean): Reply {
  const fields = { ...Object.fromEntries(headers), "cache-control": "no-store", "x-accel-buffering": "no" };
  if (!body) return { status, headers: fields };
  const stream = new Readable({ read() {} });
  const pass = async (): Promise<void> => {
    for await (const bytes of body as AsyncIterable<Uint8Array>) {
      stream.push(bytes);
      if (isListening && stream.readableLength > maxUnsentBytes) return void stream.destroy();
    }
    stream.push(null);
  };
  pass().catch((error: Error) => stream.destroy(error));
  return { status, headers: fields, body: stream };
}
