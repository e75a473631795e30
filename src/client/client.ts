import type { Edit } from "../html/edit/edits.ts";
import { type Connection, keepConnected, type PageEvent } from "./connection.ts";
import { askHistory, type PageVersion } from "./history.ts";
import { createMirror, type Mirror, type Updated } from "./mirror.ts";
import { type Selection, select } from "./selection.ts";
import { selectorOf } from "./selector-of.ts";
import { type EditOptions, editPage, type MadeEdits, type Requesting, randomId } from "./send.ts";

export type { Edit, InsertPosition } from "../html/edit/edits.ts";
export type { ChangedByEdit, PageChange, PageEvent } from "./connection.ts";
export type { PageVersion } from "./history.ts";
export type { Updated } from "./mirror.ts";
export type { AppendOptions, RemoveOptions, Selection, StoredElements } from "./selection.ts";
export type { EditOptions, MadeEdits } from "./send.ts";
export { PageError } from "./send.ts";

/** Options for {@link connect}. */
export interface PageOptions {
  /** Whether cookies and passwords go along, as `fetch` has it. @default "same-origin" */
  readonly credentials?: RequestCredentials;
  /** Path prefix under which the server is mounted. @default where this module was loaded from, or none */
  readonly prefix?: string;
  /** Address of the web socket for changes. @default "/ws" below the prefix */
  readonly webSocket?: string | URL;
}

/** A page on the server, whose elements can be read, changed and followed. */
export interface Page {
  readonly url: string;
  /** Whether changes come in: `"open"`, `"closed"` while it connects, `"idle"` if they were not asked for. */
  readonly state: "idle" | "open" | "closed";
  /** The elements that a CSS selector selects in the file. */
  select(selector: string): Selection;
  /** Makes a list of edits, all or nothing, as one change. Rejects with a {@link PageError}. */
  edit(edits: readonly Edit[], options?: EditOptions): Promise<MadeEdits>;
  /** The latest versions, newest first, 50 at most. Rejects with a {@link PageError} if there is no history. */
  history(): Promise<readonly PageVersion[]>;
  /** Takes back the last change by this user; a second time, that again. Rejects with a {@link PageError}. */
  undo(): Promise<void>;
  /** A selector for just this element of the open document. Throws a `TypeError` for one that is not in the file. */
  selectorOf(element: Element): string;
  /** Calls a listener with each change by any client. Returns a function that ends this. */
  watch(listener: (event: PageEvent) => void): () => void;
  /**
   * Keeps the open document like its file: changes by any client appear in it, own ones too. `updated` is called after
   * each time that it was brought up to date, also the first. Gives a function that ends this.
   */
  mirror(updated?: Updated): () => void;
}

/**
 * Connects to a page, by default the open one. Nothing is sent before it is needed.
 *
 * @example
 * const page = connect();
 * page.mirror();
 * await page.select("#todo").append("<li>Water the plants</li>");
 */
export function connect(url: string | URL = location.href, options: PageOptions = {}): Page {
  const address = new URL(url, location.href);
  address.hash = "";
  const { credentials = "same-origin", prefix = servedPrefix(address) } = options;
  const socketUrl = new URL(options.webSocket ?? `${prefix}/ws`, address);
  socketUrl.protocol = socketUrl.protocol.replace("http", "ws");
  // The path of the page below the prefix. Which file that is, the server knows.
  const { pathname } = address;
  const path = pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname;
  socketUrl.searchParams.set("document", decodeURIComponent(path));

  const listeners = new Set<(event: PageEvent) => void>();
  let connection: Connection | undefined;
  let mirror: Mirror | undefined;

  const id = randomId();
  const shown: Requesting["shown"] = (requestId, fileTag) => mirror?.shows(requestId, fileTag);
  const requesting = { url: address.href, credentials, id, shown };

  /** Each in a task of its own: the error of one is reported, and the others still get the event. */
  function tell(event: PageEvent, told: Iterable<(event: PageEvent) => void> = listeners): void {
    for (const listener of told) queueMicrotask(() => listeners.has(listener) && listener(event));
  }

  function watch(listener: (event: PageEvent) => void): () => void {
    const subscription = (event: PageEvent): void => listener(event); // one may subscribe twice
    listeners.add(subscription);
    if (connection?.isOpen) tell({ type: "open" }, [subscription]);
    connection ??= keepConnected(socketUrl, id, tell);
    return () => {
      listeners.delete(subscription);
      if (listeners.size > 0) return;
      connection?.close();
      connection = undefined;
    };
  }

  return {
    url: address.href,
    get state() {
      if (!connection) return "idle";
      return connection.isOpen ? "open" : "closed";
    },
    select: (selector) => select(requesting, selector),
    edit: (edits, options) => editPage(requesting, edits, options),
    history: async () => (await (await askHistory(requesting, "GET")).json()).versions,
    undo: async () => void (await askHistory(requesting, "POST")),
    selectorOf,
    watch,
    mirror(updated) {
      if (mirror) throw new Error("mirrored already");
      const mine = createMirror(requesting, () => connection?.isOpen === true, updated);
      const unwatch = watch(mine.receive);
      mirror = mine;
      return () => {
        mine.stop();
        unwatch();
        if (mirror === mine) mirror = undefined;
      };
    },
  };
}

/** Where the server is mounted, as far as it has served this module itself. */
function servedPrefix({ origin }: URL): string {
  const module = new URL(import.meta.url);
  const [, prefix = ""] = /^(.*)\/\.well-known\/filement\//.exec(module.pathname) ?? [];
  return module.origin === origin ? prefix : "";
}
