import { basename } from "node:path";
import { filePath } from "../local-files/file-path.ts";
import { fileHandlerOptions } from "../options/check-config.ts";
import { pluginOptions } from "../options/option-types.ts";
import { text } from "../options/schema.ts";
import { accessLog, accessLogOptions } from "../plugins/access-log.ts";
import { basicAuth, basicAuthOptions } from "../plugins/basic-auth.ts";
import { cors, corsOptions } from "../plugins/cors.ts";
import { directory, directoryOptions } from "../plugins/directory.ts";
import { errorPages, errorPagesOptions } from "../plugins/error-pages.ts";
import { eventStream, eventStreamOptions } from "../plugins/event-stream.ts";
import { fileHandler } from "../plugins/file-handler.ts";
import { healthCheck, healthCheckOptions } from "../plugins/health-check.ts";
import { history, historyOptions } from "../plugins/history.ts";
import { mcpOptions } from "../plugins/mcp/options.ts";
import { mcp } from "../plugins/mcp.ts";
import { metrics, metricsOptions } from "../plugins/metrics.ts";
import { permissions } from "../plugins/permissions.ts";
import { rateLimit, rateLimitOptions } from "../plugins/rate-limit.ts";
import { redirects, redirectsOptions } from "../plugins/redirects.ts";
import { securityHeaders, securityHeadersOptions } from "../plugins/security-headers.ts";
import { webSocket, webSocketOptions } from "../plugins/web-socket.ts";
import type { Plugin } from "../server/plugin.ts";
import type { ItemKind } from "./read-options.ts";

export interface PluginKind extends ItemKind {
  /** Left out where another plugin does the work. */
  readonly make?: (options: never) => Plugin | undefined;
}

export type BundledName =
  | "access-log"
  | "authorization"
  | "basic-auth"
  | "cors"
  | "directory"
  | "error-pages"
  | "event-stream"
  | "file-handler"
  | "health-check"
  | "history"
  | "mcp"
  | "metrics"
  | "rate-limit"
  | "redirects"
  | "security-headers"
  | "selector-handler"
  | "websocket";

/** What a configuration page can name by a shared library, as the interface specification does. */
export const bundledPlugins: Readonly<Record<BundledName, PluginKind>> = {
  "access-log": { schema: accessLogOptions, make: accessLog, locations: ["file"], codeOnly: ["stream", "write"] },
  // Without a file of its own it is left to basic-auth, which applies the rules of the users file that it reads.
  authorization: {
    schema: pluginOptions({ authfile: text("a location") }),
    make: ({ authfile }: { authfile?: string }) =>
      authfile === undefined ? { name: "authorization" } : permissions({ rules: authfile }),
    locations: ["authfile"],
  },
  "basic-auth": {
    schema: basicAuthOptions,
    make: basicAuth,
    locations: ["authfile"],
    required: ["authfile"],
    codeOnly: ["users", "rules"],
  },
  cors: { schema: corsOptions, make: cors },
  directory: { schema: directoryOptions, make: directory, required: ["directory"], codeOnly: ["plugins"] },
  "error-pages": { schema: errorPagesOptions, make: errorPages, required: ["pages"] },
  "event-stream": { schema: eventStreamOptions, make: eventStream },
  "file-handler": {
    schema: fileHandlerOptions,
    make: fileHandler,
    locations: ["root"],
    codeOnly: ["storage", "beforeWrite", "headers"],
  },
  "health-check": { schema: healthCheckOptions, make: healthCheck, codeOnly: ["checks"] },
  history: {
    schema: historyOptions,
    make: history,
    locations: ["repository"],
    required: ["repository"],
    codeOnly: ["author"],
  },
  mcp: { schema: mcpOptions, make: mcp },
  metrics: { schema: metricsOptions, make: metrics, codeOnly: ["registry"] },
  "rate-limit": { schema: rateLimitOptions, make: rateLimit },
  redirects: { schema: redirectsOptions, make: redirects, required: ["rules"] },
  "security-headers": { schema: securityHeadersOptions, make: securityHeaders },
  // The file handler works on elements as well.
  "selector-handler": { schema: pluginOptions({}) },
  websocket: { schema: webSocketOptions, make: webSocket },
};

export const bundledNames: readonly BundledName[] = Object.keys(bundledPlugins) as BundledName[];

/** A bundled plugin, an ES module, or a shared library that is neither, which Node cannot load. */
export type Library =
  | { readonly kind: "bundled"; readonly name: BundledName }
  | { readonly kind: "module"; readonly path: string }
  | { readonly kind: "unknown" };

const sharedLibrary = /\.(?:so|dylib|dll)(?:\.\d+)*$/i;

/** Reads a `library` location; `undefined` where no file can have it. */
export function readLibrary(location: string, directory: string): Library | undefined {
  const path = filePath(location, directory);
  if (path === undefined) return undefined;
  const plain = plainName(path);
  const name = bundledNames.find((each) => each === plain);
  if (name) return { kind: "bundled", name };
  return sharedLibrary.test(path) ? { kind: "unknown" } : { kind: "module", path };
}

export function plainName(location: string): string {
  return basename(location)
    .replace(sharedLibrary, "")
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^lib/, "")
    .replace(/^(?:filement|rusty-beam)-/, "")
    .replace(/^web-socket$/, "websocket");
}
