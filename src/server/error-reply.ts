import { escapeHtml } from "../http/escape-html.ts";
import { type HttpError, toHttpError } from "../http/http-error.ts";
import { preferredType } from "../http/negotiation.ts";
import type { Exchange } from "./exchange.ts";
import { jsonReply, type Reply } from "./reply.ts";

/**
 * What the client is told of anything thrown: JSON, or a small HTML page of the same text for a client whose `Accept`
 * prefers that. A failure of the server itself is reported to `config.onError`, which is the only one to see it.
 */
export function errorReply(exchange: Exchange, thrown: unknown): Reply {
  const error = toHttpError(thrown, exchange.id);
  if (isFailure(error)) exchange.site.report(error.cause ?? error, exchange);
  // No cache may guess how long an error lives: what is missing now may be there after the next PUT.
  const headers = { "cache-control": "no-cache", vary: "accept", ...error.headers };
  const type = preferredType(exchange.headers.accept, ["application/json", "text/html"]);
  if (type === "text/html") {
    return { status: error.status, headers: { ...headers, ...pageHeaders }, body: errorPage(error), error };
  }
  const body = { error: error.reason, details: error.message, code: error.code };
  return { ...jsonReply(error.status, body, headers), error };
}

/** Whether the server is to blame; that it is busy or closing (503) is no news to it. */
function isFailure({ status }: HttpError): boolean {
  return status >= 500 && status !== 503;
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
};

const pageStyle = `:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{max-width:34rem;margin:18vh auto;padding:0 1.5rem}h1{font-size:1.6rem;margin:0}code{opacity:.65}`;

function errorPage(error: HttpError): string {
  const title = `${error.status} ${escapeHtml(error.reason)}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${pageStyle}</style>
<h1>${title}</h1>
<p>${escapeHtml(error.message)}</p>
<p><code>${escapeHtml(error.code)}</code></p>
</html>
`;
}
