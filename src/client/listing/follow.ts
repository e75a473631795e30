import { keepConnected } from "../connection.ts";
import { allEntries, refresh } from "./entries.ts";

/** Least time between two looks at the folder, in milliseconds. */
const pauseMs = 1_000;

/** Shows what others change in the folder, as the feed of the host tells it, while the page is in view. */
export function followChanges(): void {
  const { events, socket } = document.body.dataset;
  const address = socket ?? events;
  if (address === undefined) return;
  const url = new URL(address, location.href);
  const folder = url.searchParams.get("path") ?? "/";
  let connection: { close(): void } | undefined;
  let isPlanned = false;

  function look(): void {
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(() => {
      isPlanned = false;
      // What is typed or selected refers to what is shown now.
      if (document.querySelector("dialog, .selection:not([hidden])")) look();
      else void refresh();
    }, pauseMs);
  }

  function hear(event: { readonly type: string; readonly path?: string }): void {
    if (event.type === "gap" || (event.path !== undefined && isShownHere(event.path))) look();
  }

  /** What changes further down shows here only where it makes a folder. */
  function isShownHere(path: string): boolean {
    const [name, below] = path.slice(folder.length).split("/", 2);
    return below === undefined || !allEntries().some((entry) => entry.kind === "folder" && entry.name === name);
  }

  function listen(): void {
    connection?.close();
    connection = undefined;
    if (!document.hidden) connection = socket === undefined ? eventsOf(url, hear) : keepConnected(url, "", hear);
  }

  document.addEventListener("visibilitychange", () => {
    listen();
    if (!document.hidden) look();
  });
  listen();
}

/** Tries again by itself, and asks for what was missed. */
function eventsOf(url: URL, hear: (event: { readonly type: string }) => void): EventSource {
  const source = new EventSource(url);
  for (const type of ["change", "gap"]) source.addEventListener(type, ({ data }) => hear(JSON.parse(data)));
  return source;
}
