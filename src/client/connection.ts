import type { Edit } from "../html/edit/edits.ts";
import { dom } from "./dom.ts";

/** A change of the page's file; see the message reference. */
export interface PageChange {
  readonly type: "change";
  /** Counts up; larger for a later change. */
  readonly id: number;
  readonly kind:
    | "created"
    | "replaced"
    | "appended"
    | "deleted"
    | "elements-replaced"
    | "elements-appended"
    | "elements-deleted"
    | "elements-edited";
  readonly method: string;
  readonly host: string;
  readonly path: string;
  /** Of `elements-edited`, the edits that changed something, each with how many elements it was about. */
  readonly edits?: readonly ChangedByEdit[];
  /** Selector of the changed elements, for the other `elements-` kinds. */
  readonly selector?: string;
  /** How many elements it selected. */
  readonly matches?: number;
  /** What was supplied, for replaced and appended elements. */
  readonly html?: string;
  /** Entity tag of the file after the change. */
  readonly etag?: string;
  /** Who made it, where there is authentication. */
  readonly user?: string;
  readonly requestId: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** Whether it was made with this `Page`. */
  readonly own: boolean;
}

/** An edit that was made, and how many elements it was about. */
export type ChangedByEdit = Edit & { readonly matches: number };

/**
 * What a listener gets: a change; `"gap"`, when changes were missed that the server no longer knows, so that what was
 * shown may be out of date; `"open"` and `"closed"`, when the connection is made and lost.
 */
export type PageEvent = PageChange | { readonly type: "gap" | "open" | "closed" };

/** A message of the server, which does not know whether a change is this page's own. */
type Message =
  | Omit<PageChange, "own">
  | { readonly type: "hello"; readonly feed: string; readonly id: number; readonly path?: string }
  | { readonly type: "gap" | "pong" };

export interface Connection {
  readonly isOpen: boolean;
  close(): void;
}

const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** The delays begin anew after a connection that lasted at least this long. */
const goodMs = 10_000;
/** How long the server may take to answer before the connection counts as lost; it is asked this often. */
const answerMs = 9_000;
const ping = '{"type":"ping"}';

/** Keeps a web socket open and asks for what was missed. Own changes are those whose ids begin with `ownId`. */
export function keepConnected(address: URL, ownId: string, tell: (event: PageEvent) => void): Connection {
  const until = new AbortController();
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempts = 0;
  let openedAt = 0; // 0 while there is no connection
  let isHeard = false;
  let idAtGreeting = 0;
  /** The last known feed of the server, and the last change of it that was delivered. */
  let feed = "";
  /** The file of the page that is asked for, which a directory's URL does not tell. */
  let path: string | undefined;
  const isOfPage = address.searchParams.has("document");
  let lastId = 0;

  function open(): void {
    drop();
    const url = new URL(address);
    if (feed) {
      url.searchParams.set("feed", feed);
      url.searchParams.set("since", `${lastId}`);
    }
    socket = new WebSocket(url);
    socket.onmessage = ({ data }) => receive(JSON.parse(data));
    socket.onclose = lose;
    ask();
  }

  function lose(): void {
    if (openedAt > 0 && Date.now() - openedAt > goodMs) attempts = 0;
    drop();
    // Not all at the same moment, when a server comes back to which many were connected.
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** attempts) * (0.5 + Math.random() / 2);
    attempts += 1;
    timer = setTimeout(open, delay);
  }

  function ask(): void {
    isHeard = false;
    if (socket?.readyState === WebSocket.OPEN) socket.send(ping);
    clearTimeout(timer);
    timer = setTimeout(() => (isHeard ? ask() : lose()), answerMs);
  }

  function receive(message: Message): void {
    isHeard = true;
    if (message.type === "hello") {
      idAtGreeting = message.id;
      // On a feed of another run of the server the ids begin anew; that something was missed, the next message says.
      if (feed !== message.feed) lastId = feed ? 0 : message.id;
      ({ feed, path } = message);
      openedAt = Date.now();
      tell({ type: "open" });
    } else if (message.type === "gap") {
      lastId = idAtGreeting;
      tell({ type: "gap" });
    } else if (message.type === "change" && message.id > lastId) {
      lastId = message.id;
      const own = message.requestId.startsWith(`${ownId}.`);
      if (!isOfPage || path === undefined || message.path === path) tell({ ...message, own });
    }
  }

  function drop(): void {
    clearTimeout(timer);
    if (socket) {
      socket.onmessage = socket.onclose = null;
      socket.close();
      socket = undefined;
    }
    if (openedAt > 0) {
      openedAt = 0;
      tell({ type: "closed" });
    }
  }

  // After a change of the network the old connection is dead, which may take minutes to show.
  addEventListener("online", open, until);
  const onVisible = (): void => {
    if (dom(document).visibilityState === "visible") (socket ? ask : open)();
  };
  dom(document).addEventListener("visibilitychange", onVisible, until);
  open();

  return {
    get isOpen() {
      return openedAt > 0;
    },
    close() {
      until.abort();
      drop();
    },
  };
}
