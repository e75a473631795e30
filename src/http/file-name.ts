import { Buffer } from "node:buffer";
import { HttpError } from "./http-error.ts";
import { forbiddenInName, maxNameBytes } from "./request-target.ts";
import { utf8Header } from "./selector-range.ts";

// RFC 8187 §3.2: charset, optional language, value.
const extendedValue = /^utf-8'[a-z0-9-]*'/i;

/**
 * The name in an `X-Filename` field: UTF-8, percent-encoded where needed, or an RFC 8187 value. Throws 400 for anything
 * but one name of at most 255 bytes. The caller decides whether the name is hidden.
 */
export function parseFileName(header: string | undefined): string {
  const text = header === undefined ? "" : header.replace(extendedValue, "");
  if (text.trim() === "") throw new HttpError(400, "MISSING_FILENAME", "Name the new file in the X-Filename header.");

  const name = decode(text);
  if (name === "." || name === ".." || forbiddenInName.test(name)) {
    throw invalidName("X-Filename must be a single name, without slashes, backslashes and control characters.");
  }
  if (Buffer.byteLength(name) > maxNameBytes) throw invalidName(`X-Filename is over ${maxNameBytes} bytes long.`);
  return name;
}

/** The `Content-Disposition` of a file to be saved (RFC 6266): exact, and with `_` for what old clients misread. */
export function attachment(name: string): string {
  const plain = name.replace(/[^ -~]|["\\%]/gu, "_");
  const quoted = `attachment; filename="${plain}"`;
  if (plain === name) return quoted;
  const encoded = encodeURIComponent(name.replace(/\p{Surrogate}/gu, "\ufffd")); // UTF-8 cannot say half a pair
  const exact = encoded.replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${quoted}; filename*=UTF-8''${exact}`;
}

function decode(text: string): string {
  try {
    const name = utf8Header(text);
    if (name !== undefined) return decodeURIComponent(name);
  } catch {
    // A malformed escape: answered below, like malformed bytes.
  }
  throw invalidName("X-Filename is not percent-encoded UTF-8; write % as %25.");
}

function invalidName(details: string): HttpError {
  return new HttpError(400, "INVALID_FILENAME", details);
}
