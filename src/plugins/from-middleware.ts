import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { HttpError } from "../http/http-error.ts";
import type { Plugin } from "../server/plugin.ts";
import { CapturedResponse } from "./from-middleware/captured-response.ts";
import { requestOf } from "./from-middleware/connect-request.ts";

/**
 * Middleware as Connect and Express 4 and 5 take it. Declared by way of a method, whose parameters TypeScript compares
 * in both directions: middleware typed for Express's own `Request` and `Response` is accepted as well.
 */
export type ConnectMiddleware = {
  call(request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void): void;
}["call"];

/**
 * Uses Connect or Express middleware as it comes from npm (`helmet`, `cors`, `compression`, `morgan`...) as a plugin.
 * It sees a request of `node:http` and a response whose output becomes the reply, alike over HTTP/1, HTTP/2 and
 * `fetch`.
 *
 * `next()` runs the rest of the pipeline, whose reply is then written to that response; `next(error)` and what the
 * middleware throws become the reply, with the error's own `status` where it has one. All middleware of one exchange
 * shares the request object. Changing its `url` or `method` does not redirect the rest of the pipeline, and content
 * that a body parser has read is gone for the file handler. Methods that only Express adds (`res.send`, `req.get`) are
 * absent.
 *
 * @example
 * createFileServer({ root: "site", plugins: [fromMiddleware(helmet()), fromMiddleware(compression())] });
 */
export function fromMiddleware(middleware: ConnectMiddleware): Plugin {
  if (typeof middleware !== "function") {
    throw new TypeError(`fromMiddleware: expected middleware(request, response, next), got ${typeof middleware}`);
  }
  return {
    name: middleware.name || "middleware",
    async handle(exchange, next) {
      const { signal, site } = exchange;
      const request = requestOf(exchange);
      const captured = new CapturedResponse(request);
      const { response } = captured;
      exchange.defer(() => void response.destroy());

      let rest: Promise<void> | undefined;
      const fail = (error: unknown): void => {
        const isTooLate = !captured.fail(error);
        if (isTooLate && !signal.aborted) site.report(error, exchange);
      };
      const runRest = (): Promise<void> =>
        next()
          .then((reply) => captured.passOn(reply))
          .catch(fail);
      const proceed = (error?: unknown): void => {
        // `next("route")` and `next("router")` are Express's for "skip what is left of this route", not errors.
        if (error && error !== "route" && error !== "router") fail(asHttpError(error));
        else if (!response.writableEnded && !response.destroyed) rest = runRest();
      };
      // Async on purpose: what it throws and what its promise rejects with, as in Express 5, end up in one place.
      const run = async (): Promise<void> => middleware(request, response, proceed);
      run().catch((error) => fail(asHttpError(error)));

      try {
        return await captured.reply;
      } catch (error) {
        if (signal.aborted) await rest; // the exchange is not over while the rest of the pipeline still works on it
        throw error;
      }
    },
  };
}

/**
 * An error by Connect's convention, `status` (or `statusCode`) and perhaps `headers`, as the error for the client;
 * anything else as it is. Below 500 its message is meant for the client, unless `expose` says otherwise.
 */
function asHttpError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof HttpError) return error;
  const {
    status,
    statusCode = status,
    expose,
    headers,
  } = error as Error & Partial<Record<"status" | "statusCode" | "expose" | "headers", unknown>>;
  if (typeof statusCode !== "number" || !(statusCode >= 400 && statusCode <= 599)) return error;
  const reason = STATUS_CODES[statusCode] ?? "Error";
  const code = reason.toUpperCase().replace(/\W+/g, "_");
  const details = (expose ?? statusCode < 500) ? error.message : `${reason}.`;
  const fields = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return new HttpError(statusCode, code, details, { cause: error, headers: Object.fromEntries(fields) });
}
