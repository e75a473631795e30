import { randomBytes } from "node:crypto";
import type { ElementRequest } from "../../elements/element-request.ts";
import type { SelectedElements } from "../../server/access.ts";
import type { Exchange } from "../../server/exchange.ts";
import { emptyReply, type Reply } from "../../server/reply.ts";
import { allowedMethods, elementOperations, requireRight } from "./operations.ts";

/** Most selectors about which one reply says what may be done. */
const mostSelectors = 100;

/** What this user may do to these elements. How many there are, only those who may read them learn. */
export async function elementOptionsReply(request: ElementRequest, methods: readonly string[]): Promise<Reply> {
  const { path, exchange } = request;
  const { access } = exchange;
  requireRight(access, { path, elements: "any" }, "GET", "read");
  const { examineElements } = await import("../../elements/examine.ts");
  const { headers, impossible, elements } = await examineElements(request);
  const possible = Object.entries(elementOperations).filter(([method]) => !impossible.has(method));
  const allow = allowedMethods(access, { path, elements }, Object.fromEntries(possible), methods);
  return emptyReply(200, { ...headers, allow, "accept-ranges": "selector, bytes" });
}

/**
 * What this user may do to the elements of a document, by the selectors of the rules about it: `multipart/mixed` with an empty
 * part for each, which has `Content-Range` and `Allow`; for the document as a whole the selector is `*`. Clients of `draft-00`
 * find out by it which elements to make editable.
 */
export function optionsBySelector({ access }: Exchange, path: string, methods: readonly string[], reply: Reply): Reply {
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

/** Elements of which only this selector is known: of all others they may be part. */
function selectedBy(selector: string): SelectedElements {
  return { areAmong: (other) => other === selector, touch: (other) => selector === "*" || other === selector };
}
