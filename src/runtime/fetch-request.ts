import { HttpError } from "../http/http-error.ts";
import { belowMount } from "../http/request-target.ts";
import type { IncomingRequest } from "../server/exchange.ts";

/** What a fetch-style host knows of a request besides the `Request` itself. */
export interface FetchInfo {
  /** IP address of the client. @default "127.0.0.1" */
  readonly address?: string | undefined;
  /** Path under which the server is mounted, which the URL of the request still has: `"/wiki"`. @default the option `mount` */
  readonly mount?: string | undefined;
}

/** A `Request` of the Fetch standard as the server sees it. */
export class FetchIncoming implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly target: string | undefined;
  readonly mount: string;
  readonly headers: IncomingRequest["headers"];
  readonly peer: string;
  readonly encrypted: boolean;
  readonly httpVersion: string = "1.1";
  readonly isUpgrade: boolean = false;
  readonly request: Request;

  /** `mount` is where the server is mounted, as URLs begin with it. */
  constructor(request: Request, info: FetchInfo = {}, mount = "") {
    const { protocol, host, pathname, search } = new URL(request.url);
    this.request = request;
    this.method = request.method;
    this.url = pathname + search;
    this.mount = mount;
    this.target = belowMount(this.url, this.mount);
    this.headers = { host, ...Object.fromEntries(request.headers) };
    this.peer = info.address ?? "127.0.0.1";
    this.encrypted = protocol === "https:";
  }

  count(field: string): number {
    return this.request.headers.has(field) ? 1 : 0; // the standard joins fields of one name
  }

  content(): AsyncIterable<Uint8Array> {
    return arriving(this.request);
  }

  signal(): AbortSignal {
    return this.request.signal;
  }
}

async function* arriving({ body, bodyUsed, signal }: Request): AsyncGenerator<Uint8Array, void, undefined> {
  if (bodyUsed || body?.locked) {
    throw new HttpError(500, "BODY_CONSUMED", "Somebody else has begun to read the content of this Request.");
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
