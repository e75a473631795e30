import { PageError, unanswered } from "./page-error.ts";

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
