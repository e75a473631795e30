import { PageError, unanswered } from "./page-error.ts";

/** What a request needs of its page. */
export interface Requesting {
  readonly url: string;
  readonly credentials: RequestCredentials;
  /** Told of a write before it is sent, and how it ended: with no change, or with one that makes the file have this tag. */
  readonly writes: {
    begin(requestId: string): void;
    fail(requestId: string): void;
    done(requestId: string, fileTag?: string): unknown;
  };
}

/** What a reply says. */
export interface Answer<Result> {
  readonly result: Result;
  /** Whether something may have been written, which a mirror has to show first. */
  readonly isWritten: boolean;
  /** Tag of the file, where it is known. */
  readonly fileTag?: string | undefined;
}

/** Sends a request, and gives what its reply is read as once the open document shows it. Rejects with a {@link PageError}. */
export async function send<Result>(
  { url, credentials, writes }: Requesting,
  method: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string | null },
  read: (response: Response) => Promise<Answer<Result>>,
): Promise<Result> {
  const requestId = randomId();
  const isRead = method === "GET";
  if (!isRead) writes.begin(requestId);
  try {
    const all = { ...headers, "x-request-id": requestId };
    const response = await fetch(url, { method, headers: all, body, credentials, cache: "no-store" });
    const { result, isWritten, fileTag } = await read(response);
    if (isWritten) await writes.done(requestId, fileTag);
    else writes.fail(requestId);
    return result;
  } catch (error) {
    if (!(error instanceof PageError)) throw unanswered(error); // what was sent may have been done all the same
    writes.fail(requestId);
    throw error;
  }
}

/** Not `randomUUID`, which browsers have on secure pages only. */
function randomId(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].join("-");
}
