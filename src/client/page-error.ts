/** A request that failed, with the reason that the server gave. */
export class PageError extends Error {
  override readonly name = "PageError";
  /** Status of the reply; 0 where there was none. */
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

  constructor(
    status: number,
    code: string,
    details: string,
    { cause, index }: { cause?: unknown; index?: number | undefined } = {},
  ) {
    super(`${details} (${status} ${code})`, { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.index = index;
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
