import type { Edit } from "../html/edit/edits.ts";

export interface Requesting {
  readonly url: string;
  readonly credentials: RequestCredentials;
  /** Begins the id of each request, by which the page knows its own changes. */
  readonly id: string;
  /** Told of a write that made the file have this tag; settles when the open document shows it. */
  shown(requestId: string, fileTag?: string): Promise<void> | undefined;
}

export interface Answer<Result> {
  readonly result: Result;
  /** Whether something may have been written, which a mirror has to show first. */
  readonly isWritten: boolean;
  /** Tag of the file, where it is known. */
  readonly fileTag?: string | undefined;
}

/** Sends a request, and gives its reply once the open document shows it. Rejects with a {@link PageError}. */
export async function send<Result>(
  { url, credentials, id, shown }: Requesting,
  method: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string | null },
  read: (response: Response) => Promise<Answer<Result>>,
): Promise<Result> {
  const requestId = `${id}.${randomId()}`;
  const all = { ...headers, "x-request-id": requestId };
  try {
    const response = await fetch(url, { method, headers: all, body, credentials, cache: "no-store" });
    const { result, isWritten, fileTag } = await read(response);
    if (isWritten) await shown(requestId, fileTag);
    return result;
  } catch (error) {
    throw error instanceof PageError ? error : unanswered(error);
  }
}

/** Not `randomUUID`, which browsers have on secure pages only. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint32Array(2))].join("-");
}

/** Options of {@link Page.edit}. */
export interface EditOptions {
  /** The entity tag that the file has to have, such as that of a {@link MadeEdits}. @default any */
  readonly ifMatch?: string;
}

/** A list of edits that was made. */
export interface MadeEdits {
  /** Entity tag of the file now. */
  readonly etag: string;
  /** For each edit, how many elements it was about; no number where one may not read them. */
  readonly edits: readonly { readonly matches?: number }[];
}

/** Makes a list of edits (PATCH): all of them, or nothing. */
export function editPage(page: Requesting, edits: readonly Edit[], { ifMatch }: EditOptions = {}): Promise<MadeEdits> {
  const headers = {
    "content-type": "application/vnd.filement.edits+json",
    ...(ifMatch !== undefined && { "if-match": ifMatch }),
  };
  return send(page, "PATCH", { headers, body: JSON.stringify(edits) }, async (response) => {
    if (!response.ok) throw await refusal(response);
    const result: Partial<MadeEdits> = await response.json();
    const { etag, edits: made } = result;
    if (etag === undefined || !made) {
      throw new PageError(response.status, "HTTP_ERROR", "The reply is not about edits.");
    }
    return { result: { etag, edits: made }, isWritten: made.some(({ matches }) => matches !== 0), fileTag: etag };
  });
}

/** A request that failed, with the reason that the server gave. */
export class PageError extends Error {
  override readonly name = "PageError";
  /** Status of the reply; 0 without a reply. */
  readonly status: number;
  /**
   * The server's code, such as `PRECONDITION_FAILED`. Besides: `NETWORK` where no reply came, `NO_MATCH` where nothing
   * was written because no element matched, `SEVERAL_MATCHES` where an update is about more than one, `RANGE_LOST`
   * where the reply is about the whole page, and `HTTP_ERROR` for an error of another server, such as a proxy.
   */
  readonly code: string;
  /** A sentence for people. */
  readonly details: string;
  /** Of a list of edits, which could not be made, counted from 0. */
  readonly index: number | undefined;

  constructor(status: number, code: string, details: string, options: { cause?: unknown; index?: number } = {}) {
    super(`${details} (${status} ${code})`, options);
    this.status = status;
    this.code = code;
    this.details = details;
    this.index = options.index;
  }
}

export async function refusal(response: Response): Promise<PageError> {
  const { status, statusText } = response;
  const body: unknown = await response.json().catch(() => undefined); // a proxy's error is a page
  const { code, details, error, index } = (body ?? {}) as Partial<Record<string, unknown>>;
  const text = String(details ?? error ?? (statusText || status));
  return new PageError(status, String(code ?? "HTTP_ERROR"), text, typeof index === "number" ? { index } : {});
}

export function unanswered(cause: unknown): PageError {
  return new PageError(0, "NETWORK", "The server cannot be reached.", { cause });
}

/** The reply to a request, which has to be a success. Rejects with a {@link PageError}. */
export async function fetchOk(url: string | URL, request: RequestInit): Promise<Response> {
  const response = await fetch(url, request).catch((error: unknown) => {
    throw unanswered(error);
  });
  if (!response.ok) throw await refusal(response);
  return response;
}
