import type { BundledName } from "../library.ts";

/** What becomes of a property of rusty-beam: another name, or nothing, and why. */
export type OldProperty =
  | { readonly now: string; readonly differs?: string }
  | { readonly now: undefined; readonly because: string };

type OldProperties = Readonly<Record<string, OldProperty>>;

const noEffect = { now: undefined, because: "it had no effect in rusty-beam" } as const;

/** Properties of a `ServerConfig` that have other names here. Names are compared as `optionName` spells them. */
export const oldOfServer: OldProperties = {
  port: { now: "bindPort" },
  address: { now: "bindAddress" },
  name: { now: undefined, because: "a server has no name" },
};

/** Those of a `HostConfig`. */
export const oldOfHost: OldProperties = {
  hostName: { now: "hostname" },
};

/** What became of a plugin: another name, a part of every host, or nothing; then the text says what to do. */
export type OldPlugin = { readonly now: BundledName } | { readonly builtIn: string } | { readonly missing: string };

const oauth = {
  missing: "sign-ins by OAuth2 are for a program around Filement (permissions), or for a proxy",
} as const;

/** Plugins that are called otherwise here, and those that are not here. */
export const oldPlugins: Readonly<Record<string, OldPlugin>> = {
  "file-handler-v2": { now: "file-handler" },
  "file-authz": { now: "authorization" },
  "apache-access-log": { now: "access-log" },
  "apache-error-log": { missing: "errors are in the log of the server: take the item out" },
  "config-reload": { builtIn: "the page is read again at SIGHUP, and with --watch-config whenever it changes" },
  compression: { missing: "say compress of the host, which compresses files" },
  "error-handler": { builtIn: "replies to errors have pages; error-pages sends those of yours" },
  "google-oauth2": oauth,
  "html-prettifier": { missing: "an edit here changes no other byte of a page: take the item out" },
  "javascript-engine": { missing: "write a module (docs/configuration.md), or a program around Filement" },
  oauth2: oauth,
  redirect: { missing: "redirects has its rules in this page, without regular expressions: write them in its place" },
};

/** Properties of plugins. */
export const oldOfPlugins: Readonly<Partial<Record<BundledName, OldProperties>>> = {
  "access-log": {
    logFile: { now: "file", differs: "its directory has to exist" },
    logfile: { now: "file", differs: "its directory has to exist" },
    bufferSize: { now: undefined, because: "lines are written as they come" },
    rotateSizeMb: { now: undefined, because: "rotate with logrotate and SIGHUP" },
    rotateDaily: { now: undefined, because: "rotate with logrotate and SIGHUP" },
  },
  cors: {
    allowedOrigins: { now: "origins" },
    allowedHeaders: { now: "headers", differs: "where none are named, those of the protocol are allowed" },
    allowedMethods: { now: undefined, because: "the methods of the protocol are allowed" },
    allowCredentials: { now: "credentials" },
  },
  "health-check": {
    healthEndpoint: { now: "path" },
    detailedChecks: { now: undefined, because: "the report has no details" },
    checkDiskSpace: { now: "check_storage", differs: "it checks whether the directory can be written to" },
    minDiskSpaceMb: { now: undefined, because: "the space is not measured" },
  },
  "rate-limit": {
    requests: noEffect,
    limit: noEffect,
    window: noEffect,
    burst: noEffect,
  },
  websocket: {
    maxConnections: { now: "max_clients" },
    messageSizeLimit: noEffect,
    broadcastBufferSize: noEffect,
  },
};

/** The property `name` of a plugin, where it says which one it is no more. */
export const oldName: OldProperty = { now: undefined, because: "a plugin has no name of its own" };
