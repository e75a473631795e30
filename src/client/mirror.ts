import { applyChange } from "./apply-change.ts";
import type { PageChange, PageEvent } from "./connection.ts";
import { dom } from "./dom.ts";
import { parsePage } from "./parse-page.ts";
import { bodyPatcher } from "./patch-body.ts";
import { strongTag } from "./selection.ts";
import { fetchOk, PageError, type Requesting } from "./send.ts";

/** How long a write waits for the message that tells it, until the file is read instead. */
const messageWaitMs = 500;
const retryMs = 3_000;

/** Called each time that the document was brought up to date, with the changes that this took. */
export type Updated = (changes: readonly PageChange[]) => void;

export interface Mirror {
  receive(event: PageEvent): void;
  /** Settles when the document shows what a write of this page has changed, after which the file has this tag. */
  shows(requestId: string, fileTag?: string): Promise<void>;
  stop(): void;
}

/**
 * Makes a {@link Mirror}: each change is made in a copy of the file, and what that changed then in the open document.
 * Where a message does not tell enough, or some were missed, the file is read.
 */
export function createMirror(page: Requesting, isLive: () => boolean, updated: Updated | undefined): Mirror {
  const patchBody = bodyPatcher();
  /** The file with every change made that is known of, and its tag then. */
  let copy: Document | undefined;
  let tag: string | undefined;
  /** The file as it was read last. */
  let readHtml: string;
  let readTag: string | undefined;
  /** What the open document shows. */
  let shown: Document | undefined;

  let mustRead = false;
  /** Whether something was told since the file was asked for. */
  let hasNews = false;
  let isWorking = false;
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Changes that are not in the copy yet, and those that the document does not show yet. */
  const waiting: PageChange[] = [];
  const made: PageChange[] = [];
  /** What to call when an own write is shown; nothing for one that was shown before it was answered. */
  const writes = new Map<string, (() => void) | undefined>();
  /** Writes that are in what was read. */
  let read: string[] = [];

  async function work(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    clearTimeout(timer);
    try {
      while (!isOver && (mustRead || waiting.length > 0)) {
        if (mustRead || !copy) await readFile();
        else make(waiting.shift() as PageChange, copy);
        if (!mustRead && waiting.length === 0) show();
      }
    } catch (error) {
      mustRead = true;
      release(writes.keys());
      if (!(error instanceof PageError)) throw error;
      // A file that is gone or forbidden is so until the next change, which may have been told before this answer; a
      // server that is gone may come back any moment. (Without a connection, the next one is a new attempt.)
      const delay = error.status && error.status < 500 ? 0 : retryMs;
      if (delay ? isLive() : hasNews) timer = setTimeout(work, delay);
    } finally {
      isWorking = false;
    }
  }

  async function readFile(): Promise<void> {
    mustRead = hasNews = false;
    const answered = [...writes.keys()];
    const { url, credentials } = page;
    const response = await fetchOk(url, { credentials, cache: "no-cache", redirect: "error" });
    readHtml = await response.text();
    readTag = strongTag(response);

    // Messages that came meanwhile: those up to the one with this tag are in what was read.
    const last = waiting.map(({ etag }) => etag).lastIndexOf(readTag);
    const isBeforeAll = waiting.length === 0 || (readTag !== undefined && readTag === tag);
    if (last < 0 && !isBeforeAll) {
      made.push(...waiting.splice(0)); // the file read after them holds them all
      tag = made.at(-1)?.etag;
      mustRead = true;
      return;
    }
    made.push(...waiting.splice(0, last + 1));
    tag = readTag;
    copy = parsePage(readHtml);
    read = answered;
  }

  function make(change: PageChange, document: Document): void {
    made.push(change);
    tag = change.etag;
    // The message was slower than the file that has the change in it, with all that were before.
    if (tag !== undefined && tag === readTag) copy = parsePage(readHtml);
    else if (!applyChange(document, change)) mustRead = true;
  }

  function show(): void {
    if (!copy) return;
    patchBody(shown, copy);
    shown = dom(copy).cloneNode(true) as Document;
    const changes = made.splice(0);
    for (const { own, requestId } of changes) if (own && !writes.has(requestId)) writes.set(requestId, undefined);
    queueMicrotask(() => updated?.(changes)); // before the waiting calls go on; its error stays its own
    release(read);
    release(changes.map(({ requestId }) => requestId));
  }

  function release(requestIds: Iterable<string>): void {
    for (const requestId of requestIds) writes.get(requestId)?.();
  }

  function receive(event: PageEvent): void {
    hasNews = true;
    if (event.type === "change") waiting.push(event);
    else if (event.type === "gap" || !copy) mustRead = true;
    void work();
  }

  return {
    receive,
    async shows(requestId, fileTag) {
      if (writes.delete(requestId)) return; // it was shown before it was answered
      if (fileTag !== undefined && fileTag === tag && !isWorking) return; // nothing was to be changed
      await new Promise<void>((resolve) => {
        const timer = setTimeout(receive, isLive() ? messageWaitMs : 0, { type: "gap" });
        writes.set(requestId, () => {
          clearTimeout(timer);
          writes.delete(requestId);
          resolve();
        });
      });
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
      release(writes.keys());
    },
  };
}
