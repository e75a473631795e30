import { HttpError } from "../http/http-error.ts";
import { belowMount, type Mount, type MountPoint, mountOf } from "../http/request-target.ts";
import type { IncomingRequest } from "../server/exchange.ts";

/** What a fetch-style host knows of a request besides the `Request` itself. */
export interface FetchInfo {
  /** IP address of the client. @default "127.0.0.1" */
  readonly address?: string | undefined;
  /**
   * Path under which the server is mounted, which the URL of the request still has: `"/wiki"`; where it was taken off,
   * `{ path: "/wiki", stripped: true }`. @default the option `mount`
   */
  readonly mount?: string | MountPoint | undefined;
}

/** Throws a `TypeError` for what a framework hands on beside the request where it was given the function as it is. */
export function checkFetchInfo(info: FetchInfo): void {
  const others = Object.keys(info).filter((name) => name !== "address" && name !== "mount");
  if (others.length === 0) return;
  throw new TypeError(
    `files.fetch takes { address, mount } behind the request, but got ${others.slice(0, 3).join(", ")}: ` +
      "write (request) => files.fetch(request)",
  );
}

/** Whether a value is a `Request`, also that of another library or realm. */
export function isRequest(value: unknown): value is Request {
  if (typeof value !== "object" || value === null || !("url" in value) || !("method" in value)) return false;
  const headers: unknown = Reflect.get(value, "headers");
  return typeof headers === "object" && headers !== null && "get" in headers;
}

export function fetchIncoming(request: Request, info: FetchInfo = {}, mount: Mount = mountOf()): IncomingRequest {
  const { protocol, host, pathname, search } = new URL(request.url);
  const sent = pathname + search;
  return {
    request,
    method: request.method,
    url: mount.isStripped ? mount.prefix + sent : sent,
    mount: mount.prefix,
    target: mount.isStripped ? sent : belowMount(sent, mount.prefix),
    headers: { host, ...Object.fromEntries(request.headers) },
    peer: info.address ?? "127.0.0.1",
    encrypted: protocol === "https:",
    httpVersion: "1.1",
    isUpgrade: false,
    count: (field) => (request.headers.has(field) ? 1 : 0), // the standard joins fields of one name
    content: () => arriving(request),
    signal: () => request.signal,
  };
}

async function* arriving({ body, bodyUsed, signal }: Request): AsyncGenerator<Uint8Array, void, undefined> {
  if (bodyUsed || body?.locked) {
    throw new HttpError(500, "BODY_CONSUMED", "The content of this Request is being read already.");
  }
  if (body === null) return;
  const reader = body.getReader();
  // Not awaited: the source of the content may never answer. What failed cannot be cancelled, and need not be.
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } catch (cause) {
    throw incomplete(cause);
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
  if (signal.aborted) throw incomplete(signal.reason); // cancelled above, the content seems to have ended
}

function incomplete(cause: unknown): HttpError {
  return new HttpError(400, "INCOMPLETE_BODY", "The content ended before all of it arrived.", { cause });
}
