import { isUtf8 } from "node:buffer";
import { DocumentError } from "../document-error.ts";

/** The text of a request's content. Throws `INVALID_HTML` for what is not UTF-8 or holds NUL. */
export function decodeHtml(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw invalidHtml("it is not valid UTF-8", 1, 1);
  const html = new TextDecoder().decode(bytes);
  const nul = html.indexOf("\0");
  if (nul >= 0) {
    const before = html.slice(0, nul).split("\n");
    throw invalidHtml("it contains a NUL character", before.length, (before.at(-1)?.length ?? 0) + 1);
  }
  return html;
}

/** The error for supplied HTML that cannot be used. */
export function invalidHtml(reason: string, line: number, column: number): DocumentError {
  const details = `The supplied HTML is not valid: ${reason} (line ${line}, column ${column}).`;
  return new DocumentError("INVALID_HTML", details);
}
