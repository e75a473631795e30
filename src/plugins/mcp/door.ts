import { Readable, type Writable } from "node:stream";
import type { McpHttpHandler, ServerEvent } from "@modelcontextprotocol/server";
import { methodNotAllowed } from "../../http/http-error.ts";
import { pluginOptions, requestPath } from "../../options/option-types.ts";
import type { OptionsSchema } from "../../options/schema.ts";
import { rightsOf } from "../../server/access.ts";
import { UsageLimit, unavailable } from "../../server/admission.ts";
import { BodyBudget } from "../../server/body-budget.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Inspection } from "../../server/inspection.ts";
import type { Plugin, PluginSite } from "../../server/plugin.ts";
import { emptyReply, type Reply } from "../../server/reply.ts";
import { mayReceive } from "../live/audience.ts";
import { type IsProven, provenPaths } from "../live/proven-paths.ts";
import { type Library, loadLibrary } from "./library.ts";
import { registeredTools, resourceOf, serverFor } from "./server.ts";

/** What the options of the plugin are checked against. */
export const mcpOptions: OptionsSchema = pluginOptions({ path: requestPath });

/** Largest message, the content of a file to be written is part of one; and memory for those under way. In bytes. */
const maxMessageBytes = 4 * 1024 * 1024;
const messageMemory = 64 * 1024 * 1024;
/** Clients that may be told of changes at once; more are refused. */
const maxSubscriptions = 1000;
/** Bytes that may wait for a client that is told of changes; one with more is disconnected. */
const maxUnsentBytes = 1024 * 1024;

/** The plugin, and the way in for a client that has no connection. */
export interface McpDoor {
  readonly plugin: Plugin;
  /** Serves standard input and output as the user whose credentials these header fields are. Rejects where they are refused. */
  serve(
    input: Readable,
    output: Writable,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ close(): Promise<void> }>;
}

/** A host that has started. */
interface Place {
  readonly site: PluginSite;
  readonly isProven: IsProven;
  readonly library: Library;
  readonly tools: ReturnType<typeof registeredTools>;
}

/** Asks only who the client of standard input is, and looks at no page. */
class Joining implements Inspection {
  readonly look = undefined;
  client: Exchange | undefined;
}

/** Makes the plugin `mcp` with its other way in. */
export function mcpDoor(path = "/mcp"): McpDoor {
  const hosts = new Map<string, Place>();
  const bodies = new BodyBudget(messageMemory);
  const places = new UsageLimit(maxSubscriptions);
  const listening = new Map<McpHttpHandler, Exchange>();

  /** Tells of changes of files that a client may read; returns how to end that. */
  function listen(client: Exchange, tell: (uri: string) => void, dismiss: () => void): () => void {
    const { site, isProven } = placeOf(client);
    const { access, path: connectedTo } = client;
    const proven = (each: string): boolean => isProven(connectedTo, each);
    const audience = { site: site.name, path: undefined, connectedTo, exchange: client, access, isProven: proven };
    return site.changes.subscribe(
      (change, origin) => {
        if (mayReceive(audience, change, origin) === "yes") tell(resourceOf(change.path));
        // Its user may have been removed, or the rules may have changed.
        else if (!rightsOf("POST").some((right) => (access.current?.() ?? access).permitsPath(right, path))) dismiss();
      },
      undefined,
      () => false, // whole files only
    );
  }

  function placeOf(client: Exchange): Place {
    const place = hosts.get(client.site.name);
    if (!place) throw unavailable("CLOSING");
    return place;
  }

  async function answer(exchange: Exchange): Promise<Reply> {
    const { site, library, tools } = placeOf(exchange);
    const message = await bodies.read(exchange, maxMessageBytes);
    const server = () => serverFor(library, tools, { site, client: exchange });
    let isListening = false;
    const bus = {
      publish() {},
      subscribe(listener: (event: ServerEvent) => void): () => void {
        const giveBack = places.take(exchange.address);
        const dismiss = (): void => void handler.close();
        const leave = listen(exchange, (uri) => listener({ kind: "resource_updated", uri }), dismiss);
        listening.set(handler, exchange);
        isListening = true;
        return () => {
          leave();
          giveBack();
          listening.delete(handler);
        };
      },
    };
    const handler: McpHttpHandler = library.createMcpHandler(server, {
      bus,
      maxRequestBodySize: maxMessageBytes,
      onerror: () => {}, // what a client does wrong is its answer; of tools, `serverFor` reports
    });
    const { method, signal } = exchange;
    const headers = new Headers();
    for (const name of ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"]) {
      const value = exchange.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    const request = new Request(`http://localhost${path}`, { method, headers, signal, body: Uint8Array.from(message) });
    return replyOf(await handler.fetch(request), () => isListening);
  }

  const plugin: Plugin = {
    name: "mcp",
    async start(site) {
      const isProven = provenPaths(site, plugin, "mcp");
      const library = await loadLibrary();
      const [{ tools } = { tools: registeredTools(library) }] = hosts.values(); // the same for all
      hosts.set(site.name, { site, isProven, library, tools });
    },
    async handle(exchange, next) {
      if (exchange.path !== path) return next();
      if (exchange.inspection instanceof Joining) {
        exchange.inspection.client = exchange;
        return emptyReply(204);
      }
      if (exchange.method !== "POST" || exchange.inspection) throw methodNotAllowed("POST");
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
      hosts.clear();
    },
  };

  return {
    plugin,
    async serve(input, output, headers) {
      const [place] = hosts.values();
      if (!place) throw unavailable("CLOSING");
      const { site, library, tools } = place;
      const joining = new Joining();
      const { status } = await site.ask({ method: "POST", path, headers, mostBytes: 0, inspection: joining });
      const { client } = joining;
      if (!client) throw new Error(`the user may not use ${path}: the server answered ${status}`);
      return library.serveStdio(
        ({ era }) => {
          const server = serverFor(library, tools, { site, client });
          const wanted = new Set<string>();
          const tell = (uri: string): void => {
            if (era === "modern" || wanted.has(uri)) void server.server.sendResourceUpdated({ uri }).catch(() => {});
          };
          server.server.onclose = listen(client, tell, () => {});
          if (era === "modern") return server; // the library keeps what such a client wants
          server.server.setRequestHandler("resources/subscribe", ({ params }) => {
            wanted.add(params.uri);
            return {};
          });
          server.server.setRequestHandler("resources/unsubscribe", ({ params }) => {
            wanted.delete(params.uri);
            return {};
          });
          return server;
        },
        { transport: new library.StdioServerTransport(input, output, { maxBufferSize: maxMessageBytes }) },
      );
    },
  };
}

/** A `Response` of the library as a reply. Where it tells of changes, the client has to read them. */
function replyOf({ status, headers, body }: Response, isListening: () => boolean): Reply {
  const reply = {
    status,
    headers: { ...Object.fromEntries(headers), "cache-control": "no-store", "x-accel-buffering": "no" },
  };
  if (!body) return reply;
  const left = new AbortController();
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      left.abort();
      done(error);
    },
  });
  const sink = new WritableStream<Uint8Array>({
    write(bytes) {
      stream.push(bytes);
      if (isListening() && stream.readableLength > maxUnsentBytes) stream.destroy();
    },
    close: () => void stream.push(null),
  });
  body.pipeTo(sink, { signal: left.signal }).catch((error: Error) => stream.destroy(error));
  return { ...reply, body: stream };
}
