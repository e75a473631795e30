import { Buffer } from "node:buffer";
import type { ParseLimits } from "../../src/html/document/parse-budget.ts";
import { parseDocument } from "../../src/html/document/parse-document.ts";
import type { SourceDocument } from "../../src/html/document/source-document.ts";
import { done } from "./done.ts";

/** The document that HTML is. */
export function parseHtml(html: string | Uint8Array, limits: ParseLimits = {}): Promise<SourceDocument> {
  return done(parseDocument("html", typeof html === "string" ? Buffer.from(html) : html, limits));
}
