import { inspect } from "node:util";
import { ConfigError, type FileServerConfig, type HostConfig } from "../config.ts";
import { isTrustProxy } from "../http/client-address.ts";
import { isExtension, isMediaType } from "../http/content-type.ts";
import { fileMethods, takenMethods } from "../http/methods.ts";
import { isCanonicalPath, parseHost } from "../http/request-target.ts";
import { listPlugins } from "../server/pipeline.ts";
import type { SiteOptions } from "../server/site.ts";
import {
  aFunction,
  aPlugin,
  fileLocation,
  hasMethods,
  origin,
  pathPattern,
  pluginOptions,
  positiveInteger,
  requestPath,
  sharedFeed,
  textNotEmpty,
} from "./option-types.ts";
import {
  anyOf,
  integer,
  listOf,
  type OptionsSchema,
  oneOf,
  optionsOf,
  type Problem,
  recordOf,
  type Schema,
  shown,
  text,
  valueThat,
  withRule,
  yesOrNo,
} from "./schema.ts";

const fileName = text("a file name", (name) => /^[^/\\]+$/.test(name) && name !== "." && name !== "..");
const hasPort = /:\d*$/;
/** Whether a name can be that of a host; `"*"` stands for all. */
export const isHostName = (name: string): boolean => {
  try {
    return name === "*" || (name !== "" && !hasPort.test(name) && hostKey(name) !== "");
  } catch {
    return false; // which is all that the error says
  }
};
const hostName = text("a host name", isHostName, "a host name without port");

const fieldValue = text("directives such as max-age=60", (value) => /^[a-z][\x20-\x7e]*$/i.test(value));
const isFalse = valueThat((value) => value === false, "false");
const fileUrl = valueThat((value) => value instanceof URL && value.protocol === "file:", "a file: URL, or a path");
const rootDirectory: Schema = {
  problemsOf: (value) => (value instanceof URL ? fileUrl : textNotEmpty).problemsOf(value),
};
const aStorage = valueThat(
  hasMethods("stat", "open", "list", "write", "append", "update", "remove"),
  "a storage: an object with stat, open, list, write, append, update and remove",
);
const zipOptions = optionsOf({ maxEntries: positiveInteger, maxBytes: positiveInteger }, "an object of limits");
const listingFeatures = withRule(
  optionsOf({ edit: yesOrNo, zip: anyOf([yesOrNo, zipOptions], "true, false, or limits") }, "an object"),
  (features: object) => (Object.keys(features).length > 0 ? undefined : "an object with edit or zip"),
);
const extension = text("an extension with its dot", (value) => /^\.[\w.-]+$/.test(value));
const contentTypes = recordOf(
  text('a media type such as "text/plain"', isMediaType),
  "an object of media types by extension",
  text('a file extension such as ".md"', isExtension),
);
const patterns = listOf(pathPattern, "a list of path patterns");

/** A schema for each option, and what stands for it where it is left out. */
type OptionTable<Options> = { readonly [Name in keyof Options]-?: Schema & { readonly default?: Options[Name] } };

function withDefault<T>(schema: Schema, value: T): Schema & { readonly default: T } {
  return { ...schema, default: value };
}

const on = withDefault(yesOrNo, true);
const off = withDefault(yesOrNo, false);
const limit = (most: number) => withDefault(positiveInteger, most);

const ofHost = {
  root: rootDirectory,
  storage: aStorage,
  plugins: listOf(aPlugin, "a list of plugins"),
  aliases: listOf(hostName, "a list of host names"),
  methods: listOf(oneOf(fileMethods), "a list of methods", "at least one method"),
  readOnly: yesOrNo,
  index: withDefault(
    anyOf([fileName, listOf(fileName, ""), isFalse], "a file name, a list of file names, or false"),
    "index.html",
  ),
  cacheControl: anyOf(
    [fieldValue, isFalse, recordOf(fieldValue, "values by path pattern", pathPattern), aFunction],
    "a value of Cache-Control, values by path pattern, a function, or false",
  ),
  download: withDefault(
    anyOf([yesOrNo, patterns, aFunction], "true, false, a list of path patterns, or a function"),
    false,
  ),
  headers: aFunction,
  extensions: withDefault(listOf(extension, "a list of extensions"), []),
  single: withDefault(anyOf([yesOrNo, requestPath], "true, false, or a path as requests have it"), false),
  ignores: withDefault(patterns, []),
  listing: withDefault(anyOf([yesOrNo, listingFeatures], "true, false, or { edit: true, zip: true }"), true),
  title: textNotEmpty,
  dotfiles: withDefault(oneOf(["ignore", "allow"]), "ignore"),
  symlinks: oneOf(["within-root", "never"]),
  contentTypes: withDefault(contentTypes, {}),
  createParents: on,
  untrustedContent: off,
  precompressed: off,
  compress: off,
  durability: oneOf(["fsync", "rename"]),
  maxFileSize: limit(100 * 1024 * 1024),
  maxDocumentSize: limit(16 * 1024 * 1024),
  maxDocumentDepth: limit(512),
  maxParseSteps: limit(256 * 1024 * 1024),
  maxMatches: limit(10_000),
  maxEdits: limit(1000),
  maxSelectorLength: limit(4096),
  maxSelectorCompounds: limit(64),
  maxSelectionSteps: limit(20_000_000),
  documentCacheSize: limit(64 * 1024 * 1024),
  elementBodyMemory: limit(64 * 1024 * 1024),
  refuseFragments: off,
  beforeWrite: aFunction,
  dav: text("compliance classes such as 1", (value) => /^[\w<>:/., -]+$/.test(value)),
  dialect: withDefault(oneOf(["spec", "draft-00"]), "spec"),
  allowedOrigins: listOf(origin, "a list of origins"),
  watch: off,
  client: off,
  serverHeader: text("the value of a header field", (value) =>
    /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value),
  ),
} satisfies OptionTable<HostConfig>;

/** Names that options of other file servers have, and what to say of them. */
const ofOtherServers = new Map(
  Object.entries({
    acceptRanges: "always on: leave it out",
    allowedPath: "the plugin guard does that",
    brotli: 'here "precompressed"',
    cors: "the plugin cors does that",
    dev: "always so: leave it out",
    etag: "always on: leave it out",
    gzip: 'here "precompressed", or "compress"',
    immutable: 'here "cacheControl": "max-age=60, immutable"',
    lastModified: "always on: leave it out",
    list: 'here "listing"',
    maxAge: 'here "cacheControl": "max-age=60", in seconds',
    onNoMatch: 'here "fallthrough"',
    prefix: 'here "mount"',
    redirect: "always on: leave it out",
    serveDotFiles: 'here "dotfiles"',
    setHeaders: 'here "headers"',
  }),
);

const { aliases, ...ofServerHost } = ofHost;
const { plugins, symlinks, durability, maxFileSize, allowedOrigins, serverHeader, watch, client, ...ofFileHandler } =
  ofServerHost;
const directoryPath = text(
  "a path that begins with / and does not end in it",
  (path) => path === "/" || (isCanonicalPath(path) && !path.endsWith("/")),
);
const withRemarks = (options: Readonly<Record<string, Schema>>, expected = "an object of options"): OptionsSchema =>
  optionsOf(options, expected, [], ofOtherServers);
export const fileHandlerOptions: OptionsSchema = withRemarks({ ...ofFileHandler, at: directoryPath });
export const hostOptions: OptionsSchema = withRemarks(ofHost, "a host's options");

const serverOptions: OptionsSchema = withRemarks({
  ...ofServerHost,
  hosts: recordOf(hostOptions, "an object of hosts by name", hostName),
  trustProxy: valueThat(
    isTrustProxy,
    'true, false, a number of hops, addresses, CIDR ranges, "loopback", "linklocal", "uniquelocal", or a function',
  ),
  forwardedHeader: oneOf(["x-forwarded-for", "forwarded"]),
  allowedHosts: listOf(hostName, "a list of host names"),
  protectedFiles: listOf(fileLocation, "a list of files"),
  maxConcurrentRequests: positiveInteger,
  maintenance: anyOf([yesOrNo, aFunction], "true, false, or a function"),
  fallthrough: yesOrNo,
  mount: anyOf(
    [directoryPath, optionsOf({ path: directoryPath, stripped: yesOrNo }, "", ["path"])],
    'a path such as "/docs", or { path: "/docs", stripped: true }',
  ),
  upgrades: oneOf(["own", "all"]),
  feed: sharedFeed,
  logger: valueThat(hasMethods("debug", "info", "warn", "error"), "a logger with debug, info, warn and error"),
  onError: aFunction,
});

/** What a configuration page can say of a server: besides the options, where to listen. */
export const pageOptions: OptionsSchema = pluginOptions({
  ...serverOptions.options,
  bindAddress: textNotEmpty,
  bindPort: integer("a port, 0 to 65535", (port) => port >= 0 && port <= 65_535),
});

/** Options that are used up when a host is made. */
const notOfSites: readonly string[] = ["root", "storage", "plugins", "aliases", "readOnly", "symlinks", "durability"];

/** The options of a host as its plugins see them, with defaults. */
export function siteOptions(config: HostConfig): SiteOptions {
  const ofSites = Object.entries(ofHost).filter(([name]) => !notOfSites.includes(name));
  const chosen = ofSites.map(([name, schema]) => [name, Reflect.get(config, name) ?? Reflect.get(schema, "default")]);
  const options = Object.fromEntries(chosen) as SiteOptions; // the table is checked against the types of the options
  return { ...options, methods: takenMethods(config), allowedOrigins: new Set(config.allowedOrigins) };
}

/** Each host by name, with the options that it takes over from the server: all but its files. */
export function hostConfigs(config: FileServerConfig): readonly (readonly [name: string, host: HostConfig])[] {
  const { root, storage, hosts, ...options } = config;
  const own = Object.entries(hosts ?? {});
  if (hasSource(config) || hosts === undefined) own.push(["*", { root, storage }]);
  // With `fallthrough` other routes are behind the files, which take nothing but what is there.
  const besideOthers: HostConfig = options.fallthrough ? { methods: ["GET", "HEAD"], listing: false } : {};
  const inherited = { ...besideOthers, ...withoutUndefined(options) };
  return own.map(([name, host]) => {
    return [name, { ...inherited, ...withoutUndefined(host), readOnly: options.readOnly || host.readOnly }];
  });
}

/** An option set to `undefined` is one left out. */
function withoutUndefined(host: HostConfig): HostConfig {
  return Object.fromEntries(Object.entries(host).filter(([, value]) => value !== undefined));
}

/** The one spelling of a host's name, in which requests are compared with the configuration. */
export function hostKey(name: string): string {
  return name === "*" ? name : parseHost(name);
}

/** Throws one {@link ConfigError} that names everything that is wrong with a configuration. */
export function checkConfig(config: unknown): asserts config is FileServerConfig {
  const problems = problemsOf(serverOptions, config, "the configuration");
  throwIfAny(problems.length > 0 ? problems : inconsistencies(config as FileServerConfig));
}

/** Throws one {@link ConfigError} that names everything that is wrong with the options of a file handler. */
export function checkFileHandlerOptions(options: unknown): void {
  const problems = problemsOf(fileHandlerOptions, options, "fileHandler");
  throwIfAny(problems.length > 0 ? problems : doubleSource("fileHandler", options as HostConfig));
}

/** Throws one {@link ConfigError} that names everything that is wrong with the options of a plugin. */
export function checkOptions(plugin: string, schema: Schema, options: unknown): void {
  throwIfAny(problemsOf(schema, options, "the argument").map((problem) => `${plugin}: ${problem}`));
}

function throwIfAny(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigError(problems);
}

function problemsOf(schema: Schema, value: unknown, what: string): string[] {
  return schema.problemsOf(value).map((problem) => sentenceOf(problem, value, what));
}

function sentenceOf({ path, kind, expected }: Problem, config: unknown, what: string): string {
  const option = path.map((part) =>
    typeof part === "number" || /^[./]/.test(part) ? `[${inspected(part)}]` : `.${part}`,
  );
  const name = option.join("").replace(/^\./, "") || what;
  if (kind === "option") return `${name} has no option ${expected}`;
  if (kind === "name") return `${name}: expected ${expected}`;
  return `${name} is ${inspected(path.reduce(member, config))}: expected ${expected}`;
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function inspected(value: unknown): string {
  if (typeof value === "function") return "a function";
  return typeof value === "string"
    ? shown(value)
    : inspect(value, { breakLength: Number.POSITIVE_INFINITY }).slice(0, 80);
}

function inconsistencies(config: FileServerConfig): string[] {
  const problems: string[] = [];
  const names = new Map<string, string>();
  const hosts = Object.entries(config.hosts ?? {});
  const hasDefault = hasSource(config);
  for (const [name, host] of hosts) {
    for (const alias of [name, ...(host.aliases ?? [])].map(hostKey)) {
      if (names.has(alias)) problems.push(`hosts.${name}: the name "${alias}" is taken by hosts.${names.get(alias)}`);
      names.set(alias, name);
    }
    problems.push(...sourceProblems(`hosts.${name}`, { ...host, plugins: host.plugins ?? config.plugins }));
  }
  if (hasDefault && names.has("*"))
    problems.push('hosts.*: root or storage beside "hosts" is the default host already');
  if (hasDefault || hosts.length === 0) problems.push(...sourceProblems("the configuration", config));
  return problems;
}

function sourceProblems(where: string, host: HostConfig): string[] {
  const bringsOwn = listPlugins(host.plugins ?? []).some(({ plugin: { name } }) => name === "file-handler");
  if (hasSource(host) || bringsOwn) return doubleSource(where, host);
  return [`${where} has no root: expected a directory to serve, or a storage`];
}

function hasSource({ root, storage }: HostConfig): boolean {
  return root !== undefined || storage !== undefined;
}

function doubleSource(where: string, { root, storage }: HostConfig): string[] {
  return root !== undefined && storage !== undefined ? [`${where} has both root and storage: expected one`] : [];
}
