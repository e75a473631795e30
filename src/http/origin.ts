import type { IncomingHttpHeaders } from "node:http";

/** The origin that a request addresses; host and port as the `Host` field carries them. */
interface TargetOrigin {
  readonly protocol: "http" | "https";
  readonly host: string;
}

/**
 * Whether a browser sends this request for a page of another site, with the user's cookies and without the user's
 * consent. A request with neither `Sec-Fetch-Site` nor `Origin` does not come from a page in a browser.
 */
export function isCrossSite(
  headers: IncomingHttpHeaders,
  target: TargetOrigin,
  allowedOrigins: ReadonlySet<string>,
): boolean {
  const site = headers["sec-fetch-site"];
  const { origin } = headers;
  if (site === undefined && origin === undefined) return false;
  // "none": the user typed the address or opened a bookmark.
  if (site === "same-origin" || site === "none") return false;

  const source = origin === undefined ? undefined : serialisedOrigin(origin);
  if (source !== undefined && allowedOrigins.has(source)) return false;
  if (site === "cross-site" || source === undefined) return true;
  // "same-site" is not consent: user pages on a sister domain are same-site. The origin decides. Behind a proxy that
  // terminates TLS the server sees http, so a page of https://host may write to http://host. Not the reverse: anyone on
  // the wire can forge a page of http://host.
  const protocols = target.protocol === "http" ? ["http", "https"] : ["https"];
  return !protocols.some((protocol) => serialisedOrigin(`${protocol}://${target.host}`) === source);
}

/** An origin as RFC 6454 §6.2 serialises it; `undefined` for anything else, and for `null`, which many sites share. */
export function serialisedOrigin(text: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\\\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin } = new URL(text);
  // The URL standard knows origins of web schemes only; `chrome-extension://abc` and the like stay as they are.
  return origin === "null" ? text.toLowerCase().replace(/\/$/, "") : origin;
}
