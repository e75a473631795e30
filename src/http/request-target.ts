import { Buffer } from "node:buffer";
import { isIPv4 } from "node:net";
import { canonicalIPv6 } from "./client-address.ts";
import { HttpError } from "./http-error.ts";

/** Longest name in bytes that common file systems store. */
export const maxNameBytes = 255;
/** `PATH_MAX` of Linux. */
const maxPathBytes = 4096;

/** What no name may contain, escaped or not: control characters (C0, DEL, C1) and both separators. */
export const forbiddenInName: RegExp = /[\x00-\x1f\x7f-\x9f/\\]/;
const forbiddenInPath = /[\x00-\x1f\x7f-\x9f\\]/;
const forbiddenInSearch = /[\x00-\x1f\x7f#]/;
const escapedSeparator = /%(?:2f|5c)/i;
const beyondLatin1 = /[^\x00-\xff]/;
const rawByte = /[\x80-\xff]/g;

// ASCII without escapes, empty segments, `#`, a backslash, or a segment that begins with a dot: nearly every request.
const canonical = /^(?:\/[!"$&-\-0->@-[\]-~][!"$&-.0->@-[\]-~]*)*\/?$/;
// Refused on every platform, so that a site moves between platforms and no test on Linux hides a hole on Windows:
const neverShown = new RegExp(
  [
    ":", // "page.html:stream" and "page.html::$DATA" are the same file, or one hidden in it
    "[. ](?:/|$)", // Windows drops them: "secret.html." is secret.html under a name that no rule knows
    "(?:^|/)(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|conin\\$|conout\\$|clock\\$) *(?:[./]|$)", // devices, everywhere
    "(?:^|/)\\.filement-[^/]*\\.tmp(?:/|$)", // what a write in progress leaves beside its target
  ].join("|"),
  "i", // Names differ in case only for some file systems.
);

const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/is;

const maxHostLength = 253;
const hostName = /^([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(\d{0,5}))?$/;
const hostLiteral = /^\[([0-9a-f:.]+)\](?::(\d{0,5}))?$/;

interface RequestTarget {
  /** Decoded, from `/`, without empty, `.` and `..` segments, ending in `/` for a directory; `"*"` of OPTIONS. */
  readonly path: string;
  /** The query with its `?`, as sent; `""` without a query. */
  readonly search: string;
  /** Host and port as sent, in the absolute-form only; wins over the `Host` field (RFC 9112 §3.2.2). */
  readonly authority?: string;
}

/**
 * Reads a request target (RFC 9112 §3.2) in origin-form, absolute-form or asterisk-form. Escapes are decoded once, as
 * UTF-8. Throws 400 `INVALID_PATH` for anything that another program could read differently, and for names that no
 * file system can store.
 */
export function parseRequestPath(target: string): RequestTarget {
  if (target.startsWith("/")) return parseOriginForm(target);
  if (target === "*") return { path: "*", search: "" };

  const [, authority, rest] = absoluteForm.exec(target) ?? [];
  if (authority === undefined || rest === undefined) throw invalidPath("The request target must begin with a slash.");
  if (authority === "") throw new HttpError(400, "INVALID_HOST", "The request target names no host.");
  return { ...parseOriginForm(rest.startsWith("/") ? rest : `/${rest}`), authority };
}

/**
 * The name in a `Host` field (RFC 9110 §7.2): lower-case, without port and trailing dot, an IPv6 address in brackets in
 * its shortest spelling. `""` if the field was not sent. Throws 400 `INVALID_HOST` for everything else.
 */
export function parseHost(value: string | undefined): string {
  if (value === undefined || value === "") return "";
  const text = value.toLowerCase();
  const [, host, port = ""] = (text.startsWith("[") ? hostLiteral : hostName).exec(text) ?? [];
  const address = text.startsWith("[") ? host && canonicalIPv6(host) : undefined;
  const canonical = text.startsWith("[") ? address && `[${address}]` : host;
  if (canonical === undefined || canonical.length > maxHostLength || Number(port) > 65_535) {
    throw new HttpError(400, "INVALID_HOST", "The Host header is not a host name with an optional port.");
  }
  return canonical;
}

/** Whether others cannot register a host name: an address, `localhost` or below (RFC 6761 §6.3), or `""`. */
export function isLocalName(host: string): boolean {
  return host === "" || host.startsWith("[") || isIPv4(host) || /(?:^|\.)localhost$/.test(host);
}

/** Where a server is mounted, for a program that says more than the path. */
export interface MountPoint {
  /** As URLs begin with it: `"/wiki"`. */
  readonly path: string;
  /** Whether the framework takes the path off the URLs of requests; those of handshakes keep it. @default false */
  readonly stripped?: boolean | undefined;
}

export interface Mount {
  /** As URLs begin with it: `""` without a mount, and for `/`. */
  readonly prefix: string;
  readonly isStripped: boolean;
}

export function mountOf(mount: string | MountPoint = ""): Mount {
  const { path, stripped = false } = typeof mount === "string" ? { path: mount } : mount;
  return { prefix: encodePath(path).replace(/\/+$/, ""), isStripped: stripped };
}

/** The part of a request target below the prefix of a {@link Mount}; `undefined` where it lies elsewhere. */
export function belowMount(target: string, mount: string): string | undefined {
  if (mount === "") return target;
  const [, authority, path = target] = absoluteForm.exec(target) ?? [];
  const rest = path.startsWith(mount) ? path.slice(mount.length) : undefined;
  if (rest === undefined || !/^(?:[/?]|$)/.test(rest)) return undefined;
  const origin = authority === undefined ? "" : target.slice(0, target.length - path.length);
  return origin + (rest.startsWith("/") ? rest : `/${rest}`);
}

export function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** Spells a canonical path for a `Location` field or a link; {@link parseRequestPath} gives the same path back. */
export function encodePath(path: string): string {
  // "//evil.com" in a Location would be another host.
  const escaped = encodeURI(path.replace(/^\/+/, "")).replaceAll("?", "%3F").replaceAll("#", "%23");
  return `/${escaped}`;
}

/** The canonical form of a path that is written plainly. Throws an `HttpError` for text that is not a path. */
export function canonicalPath(text: string): string {
  return parseRequestPath(encodePath(text)).path;
}

/** The `Location` of a canonical path: below the mount, and with exactly one slash at its beginning. */
export function locationOf({ mount }: { readonly mount: string }, path: string): string {
  // A framework that mounts at a wildcard may report "//evil.com", which in a Location would be another host.
  return mount.replace(/^\/+/, "/") + encodePath(path);
}

/** Whether a path is canonical, as from {@link parseRequestPath}; requests have no other paths. */
export function isCanonicalPath(path: string): boolean {
  try {
    return canonicalPath(path) === path;
  } catch {
    return false; // which is all that the error says
  }
}

/** Whether clients must not see a canonical path: by `dotfiles`, except below `/.well-known` (RFC 8615), or ever. */
export function isHiddenPath(path: string, dotfiles: "ignore" | "allow"): boolean {
  if (neverShown.test(path)) return true;
  if (dotfiles === "allow" || !path.includes("/.")) return false;
  return path !== "/.well-known" && !path.startsWith("/.well-known/");
}

function parseOriginForm(target: string): RequestTarget {
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const search = mark < 0 ? "" : target.slice(mark);
  if (search !== "" && forbiddenInSearch.test(search)) throw invalidPath("The query holds a forbidden character.");
  // Within the limit of one name, every name is within it.
  if (path.length <= maxNameBytes && canonical.test(path)) return { path, search };
  return { path: resolve(decode(path)), search };
}

function decode(path: string): string {
  if (path.includes("#")) throw invalidPath("The path holds a fragment; write # as %23.");
  if (beyondLatin1.test(path)) throw invalidPath("The path holds characters that must be percent-encoded.");
  if (escapedSeparator.test(path)) throw invalidPath("A name in the path holds a slash or a backslash.");
  const escaped = path.replace(rawByte, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  const decoded = decodeEscapes(escaped);
  if (forbiddenInPath.test(decoded)) throw invalidPath("The path holds a control character or a backslash.");
  return decoded;
}

function decodeEscapes(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw invalidPath("The path is not percent-encoded UTF-8; write % as %25.");
  }
}

/** Walks the segments of a decoded path, so that `%2e%2e` counts as `..`. */
function resolve(path: string): string {
  const names: string[] = [];
  let isDirectory = true;
  for (const segment of path.split("/")) {
    isDirectory = segment === "" || segment === "." || segment === "..";
    if (!isDirectory) names.push(checkLength(segment, maxNameBytes));
    else if (segment === ".." && names.pop() === undefined) throw invalidPath("The path leaves the root.");
  }
  if (names.length === 0) return "/";
  return checkLength(`/${names.join("/")}${isDirectory ? "/" : ""}`, maxPathBytes);
}

function checkLength(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) > maxBytes)
    throw invalidPath(`The path, or a name in it, is over ${maxBytes} bytes long.`);
  return text;
}

function invalidPath(details: string): HttpError {
  return new HttpError(400, "INVALID_PATH", details);
}

/** The value of a query parameter, or `undefined`. Throws 400 `INVALID_QUERY` for two: which is meant? */
export function onlyValue(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  if (values.length > 1) throw invalidQuery(name, "one value");
  return values[0];
}

/** The 400 of a query parameter that says nothing; `expected` is what it has to be. */
export function invalidQuery(name: string, expected: string): HttpError {
  return new HttpError(400, "INVALID_QUERY", `The query parameter ${name} has to be ${expected}.`);
}
