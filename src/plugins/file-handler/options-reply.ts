import { randomBytes } from "node:crypto";
import type { ElementRequest } from "../../elements/element-request.ts";
import type { FileRequest } from "../../files/file-request.ts";
import { HttpError } from "../../http/http-error.ts";
import { patchTypes } from "../../http/methods.ts";
import { asksForSelectors, documentKind } from "../../http/selector-range.ts";
import type { SelectedElements } from "../../server/access.ts";
import type { Exchange } from "../../server/exchange.ts";
import { emptyReply, type Reply } from "../../server/reply.ts";
import type { FileOptions } from "../../server/site.ts";
import {
  allowedMethods,
  elementOperations,
  type Operations,
  operations,
  requireRight,
  type Target,
} from "./operations.ts";

/** Most selectors about which one reply says what may be done. */
const mostSelectors = 100;

/** What OPTIONS tells of the server: `OPTIONS *`. */
export function serverOptionsReply(method: string, methods: readonly string[], { dav }: FileOptions): Reply {
  if (method !== "OPTIONS") throw new HttpError(400, "INVALID_PATH", "`*` stands for the server, for OPTIONS only.");
  return optionsReply(methods.join(", "), true, dav);
}

/**
 * What OPTIONS tells of a path. With a file that a GET finds there under another path, which is `found` (an index, or
 * what stands in), it also takes requests for the elements of that.
 */
export function pathOptionsReply(
  request: FileRequest,
  found: FileRequest,
  target: Target,
  taken: readonly string[],
): Reply {
  const { exchange, path, options } = request;
  const { access } = exchange;
  const own = allowedMethods(access, { path }, operations[target], taken);
  const isInstead = request.stat === undefined && found.stat !== undefined;
  const sent = isInstead ? allowedMethods(access, { path: found.path }, reading, taken) : "";
  const isBySelector = options.dialect === "draft-00" && asksForSelectors(exchange.headers);
  const document = documentAt(found, isBySelector);
  const ofElements: readonly Operations<unknown>[] =
    document === undefined || document === path ? [] : [elementOperations, operations.document]; // of the latter PATCH
  const asElements = { path: document ?? path, elements: "any" } as const;
  const elements = ofElements.map((table) => allowedMethods(access, asElements, table, taken));
  const allowed = [own, sent, ...elements].join(", ").split(", ");
  const allow = taken.filter((method) => allowed.includes(method)).join(", ");
  const reply = optionsReply(allow, document !== undefined, options.dav);
  return document !== undefined && isBySelector ? optionsBySelector(exchange, document, taken, reply) : reply;
}

const { GET, HEAD } = operations.file;
const reading = { ...(GET && { GET }), ...(HEAD && { HEAD }) };

/** The document on which selectors work at a path. None for users who may not read it: it would tell what exists. */
function documentAt({ exchange, path, stat }: FileRequest, isPartEnough: boolean): string | undefined {
  const { access } = exchange;
  if (stat?.type !== "file" || documentKind(path) === undefined) return undefined;
  const mayRead = access.permitsPath("read", path) || (isPartEnough && access.permitsElements("read", path, "any"));
  return mayRead ? path : undefined;
}

function optionsReply(allow: string, isDocument: boolean, dav: string | undefined): Reply {
  const ranges = isDocument ? "selector, bytes" : "bytes";
  const patch = isDocument && allow.includes("PATCH") && { "accept-patch": patchTypes.join(", ") };
  return emptyReply(200, { allow, "accept-ranges": ranges, vary: "Authorization", ...patch, ...(dav && { dav }) });
}

/** What this user may do to these elements. How many there are, only those who may read them learn. */
export async function elementOptionsReply(request: ElementRequest, methods: readonly string[]): Promise<Reply> {
  const { path, exchange } = request;
  const { access } = exchange;
  requireRight(access, { path, elements: "any" }, "GET", "read");
  const { examineElements } = await import("../../elements/read.ts");
  const { headers, impossible, elements } = await examineElements(request);
  const possible = Object.entries(elementOperations).filter(([method]) => !impossible.has(method));
  const allow = allowedMethods(access, { path, elements }, Object.fromEntries(possible), methods);
  return emptyReply(200, { ...headers, allow, "accept-ranges": "selector, bytes" });
}

/**
 * What this user may do to the elements of a document, by the selectors of the rules about it: `multipart/mixed` with
 * an empty part for each, which has `Content-Range` and `Allow`; for the document as a whole the selector is `*`.
 * Clients of `draft-00` find out by it which elements to make editable.
 */
function optionsBySelector({ access }: Exchange, path: string, methods: readonly string[], reply: Reply): Reply {
  const boundary = randomBytes(18).toString("base64url");
  const selectors = ["*", ...(access.selectorsOf?.(path) ?? [])].slice(0, mostSelectors);
  const parts = selectors.map((selector) => {
    const allow = allowedMethods(access, { path, elements: selectedBy(selector) }, elementOperations, methods);
    return `--${boundary}\r\nContent-Range: selector=${selector.replace(/\s+/g, " ")}\r\nAllow: ${allow}\r\n\r\n\r\n`;
  });
  const headers = {
    ...reply.headers,
    "content-type": `multipart/mixed; boundary=${boundary}`,
    "preference-applied": "return=representation",
    vary: "Accept, Prefer, Authorization",
  };
  return { status: 200, headers, body: Buffer.from(`${parts.join("")}--${boundary}--\r\n`) };
}

/** Elements known by this selector only: they may be part of any others. */
function selectedBy(selector: string): SelectedElements {
  return { areAmong: (other) => other === selector, touch: (other) => selector === "*" || other === selector };
}
