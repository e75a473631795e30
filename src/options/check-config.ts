import { inspect } from "node:util";
import { z } from "zod";
import { ConfigError, type FileServerConfig, type HostConfig } from "../config.ts";
import { clientAddress } from "../http/client-address.ts";
import { contentTypeTable } from "../http/content-type.ts";
import { serialisedOrigin } from "../http/cross-site.ts";
import { parseHost } from "../http/host-name.ts";
import { isCanonicalPath } from "../http/request-path.ts";
import { messageOf } from "../server/error-message.ts";
import type { Logger } from "../server/logger.ts";
import { listPlugins } from "../server/plugin-list.ts";
import type { Storage } from "../storage/storage.ts";
import { aFunction, aPlugin, hasMethods, isFunction, positiveInteger, yesOrNo } from "./option-types.ts";

const text = z.string("a string").min(1, "a string that is not empty");
const fileName = z
  .string()
  .refine((name) => /^[^/\\]+$/.test(name) && name !== "." && name !== "..", "a file name or false");
const oneOf = (...values: readonly [string, ...string[]]) =>
  z.enum(values, values.map((value) => `"${value}"`).join(" or "));
const hasPort = /:\d*$/;
/** Whether a name can be that of a host; `"*"` stands for all. */
export const isHostName = (name: string): boolean => {
  try {
    return name === "*" || (name !== "" && !hasPort.test(name) && hostKey(name) !== "");
  } catch {
    return false; // which is all that the error says
  }
};
const hostName = z.string("a host name").refine(isHostName, "a host name without port");
const isOrigin = (value: string): boolean => serialisedOrigin(value) === value;

const hostShape = {
  root: text,
  storage: z.custom<Storage>(
    hasMethods("stat", "open", "list", "write", "append", "update", "remove"),
    "a storage: an object with stat, open, list, write, append, update and remove",
  ),
  plugins: z.array(aPlugin, "a list of plugins"),
  aliases: z.array(hostName, "a list of host names"),
  index: z.union([fileName, z.literal(false)], "a file name or false"),
  listing: yesOrNo,
  title: text,
  maxListedNames: positiveInteger,
  dotfiles: oneOf("ignore", "allow"),
  symlinks: oneOf("within-root", "never"),
  contentTypes: z.record(z.string(), z.string("a media type"), "an object of media types by extension"),
  createParents: yesOrNo,
  untrustedContent: yesOrNo,
  durability: oneOf("fsync", "rename"),
  maxFileSize: positiveInteger,
  maxDocumentSize: positiveInteger,
  maxDocumentDepth: positiveInteger,
  maxParseSteps: positiveInteger,
  maxMatches: positiveInteger,
  maxSelectorLength: positiveInteger,
  maxSelectorCompounds: positiveInteger,
  maxSelectionSteps: positiveInteger,
  documentCacheSize: positiveInteger,
  refuseFragments: yesOrNo,
  dialect: oneOf("spec", "draft-00"),
  allowedOrigins: z.array(
    z.string("an origin").refine(isOrigin, "an origin as browsers send it, such as https://admin.example"),
    "a list of origins",
  ),
  watch: yesOrNo,
  client: yesOrNo,
  serverHeader: z
    .string("the value of a header field")
    .regex(/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/, "the value of a header field"),
};

const { aliases, ...serverHostShape } = hostShape;
const { plugins, symlinks, durability, maxFileSize, allowedOrigins, serverHeader, watch, client, ...fileHandlerShape } =
  serverHostShape;
const directoryPath = z
  .string("a path that begins with / and does not end in it")
  .refine(
    (path) => path === "/" || (isCanonicalPath(path) && !path.endsWith("/")),
    "a path that begins with / and does not end in it",
  );
/** What the options of a file handler are checked against. */
export const fileHandlerOptions: z.ZodType = z
  .strictObject({ ...fileHandlerShape, at: directoryPath }, "an object of options")
  .partial();
/** What the options of a host are checked against. */
export const hostOptions: z.ZodType = z.strictObject(hostShape, "a host's options").partial();
const trustProxy = z.union(
  [z.boolean(), z.number(), z.string(), z.array(z.string()), z.custom(isFunction)],
  "true, false, a number of hops, addresses, or a function",
);

/** What the options of a server are checked against. */
export const serverOptions: z.ZodType = z
  .strictObject(
    {
      ...serverHostShape,
      hosts: z.record(hostName, hostOptions, "an object of hosts by name"),
      trustProxy,
      forwardedHeader: oneOf("x-forwarded-for", "forwarded"),
      maxConcurrentRequests: positiveInteger,
      maintenance: z.union([z.boolean(), z.custom(isFunction)], "true, false, or a function"),
      fallthrough: yesOrNo,
      bindAddress: text,
      bindPort: z.int("a port, 0 to 65535").min(0, "a port, 0 to 65535").max(65_535, "a port, 0 to 65535"),
      logger: z.custom<Logger>(
        hasMethods("debug", "info", "warn", "error"),
        "a logger with debug, info, warn and error",
      ),
      onError: aFunction,
    },
    "an object of options",
  )
  .partial();

/** The one spelling of a host's name, in which requests are compared with the configuration. */
export function hostKey(name: string): string {
  return name === "*" ? name : parseHost(name);
}

/** Throws one {@link ConfigError} that names everything that is wrong with a configuration. */
export function checkConfig(config: unknown): asserts config is FileServerConfig {
  const problems = problemsOf(serverOptions, config, "the configuration");
  if (problems.length === 0) problems.push(...inconsistencies(config as FileServerConfig));
  if (problems.length > 0) throw new ConfigError(problems);
}

/** The same for the options of a file handler. */
export function checkFileHandlerOptions(options: unknown): void {
  const problems = problemsOf(fileHandlerOptions, options, "fileHandler");
  if (problems.length === 0) {
    const { root, storage, contentTypes = {} } = options as HostConfig;
    if (root !== undefined && storage !== undefined)
      problems.push("fileHandler has both root and storage: expected one");
    problems.push(...failureOf("fileHandler.", () => contentTypeTable(contentTypes)));
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Throws one {@link ConfigError} that names everything that is wrong with the options of a plugin. */
export function checkOptions(plugin: string, schema: z.ZodType, options: unknown): void {
  const problems = problemsOf(schema, options, "the options").map((problem) => `${plugin}: ${problem}`);
  if (problems.length > 0) throw new ConfigError(problems);
}

function problemsOf(schema: z.ZodType, value: unknown, what: string): string[] {
  const { error } = schema.safeParse(value);
  return error ? error.issues.map((issue) => problemOf(issue, value, what)) : [];
}

function problemOf(issue: z.core.$ZodIssue, config: unknown, what: string): string {
  const option = issue.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  const name = option.replace(/^\./, "") || what;
  if (issue.code === "unrecognized_keys") {
    const keys = issue.keys.map((key) => `"${key}"`).join(", ");
    return `${name} has no option ${keys}`;
  }
  if (issue.code === "invalid_key") return `${name}: expected a host name without port`;
  return `${name} is ${shown(issue.path.reduce(member, config))}: expected ${issue.message}`;
}

function member(value: unknown, key: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  const text =
    typeof value === "string" ? JSON.stringify(value) : inspect(value, { breakLength: Number.POSITIVE_INFINITY });
  return text.slice(0, 80);
}

/** What each option allows but their combination does not. */
function inconsistencies(config: FileServerConfig): string[] {
  const problems: string[] = [];
  const names = new Map<string, string>();
  const hosts = Object.entries(config.hosts ?? {});
  const hasDefault = config.root !== undefined || config.storage !== undefined;
  for (const [name, host] of hosts) {
    for (const alias of [name, ...(host.aliases ?? [])].map(hostKey)) {
      if (names.has(alias)) problems.push(`hosts.${name}: the name "${alias}" is taken by hosts.${names.get(alias)}`);
      names.set(alias, name);
    }
    problems.push(...sourceProblems(`hosts.${name}`, { ...host, plugins: host.plugins ?? config.plugins }));
  }
  if (hasDefault && names.has("*"))
    problems.push('hosts.*: root or storage beside "hosts" is the default host already');
  problems.push(...failureOf("", () => clientAddress(config.trustProxy ?? false, "x-forwarded-for")));
  problems.push(...failureOf("", () => contentTypeTable(config.contentTypes ?? {})));
  for (const [name, { contentTypes = {} }] of hosts) {
    problems.push(...failureOf(`hosts.${name}.`, () => contentTypeTable(contentTypes)));
  }
  if (hasDefault || hosts.length === 0) problems.push(...sourceProblems("the configuration", config));
  return problems;
}

function sourceProblems(where: string, host: HostConfig): string[] {
  if (host.root !== undefined && host.storage !== undefined)
    return [`${where} has both root and storage: expected one`];
  const hasSource = host.root !== undefined || host.storage !== undefined;
  const bringsOwn = listPlugins(host.plugins ?? []).some(({ plugin: { name } }) => name === "file-handler");
  return hasSource || bringsOwn ? [] : [`${where} has no root: expected a directory to serve, or a storage`];
}

/** What the rule says that reads an option; it says it in the words of this file. */
function failureOf(where: string, read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [where + messageOf(error)];
  }
}
