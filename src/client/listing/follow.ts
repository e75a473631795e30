import { allEntries, refresh } from "./entries.ts";

/** Least time between two looks at the folder, in milliseconds; also that to the next try after a lost connection. */
const pauseMs = 1_000;

/** Shows what others change in the folder, as the feed of the host tells it, while the page is in view. */
export function followChanges(): void {
  const { events, socket } = document.body.dataset;
  const address = socket ?? events;
  if (address === undefined) return;
  const url = new URL(address, location.href);
  const folder = url.searchParams.get("path") ?? "/";
  let source: EventSource | WebSocket | undefined;
  let isPlanned = false;
  let mayHaveMissed = false;

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

  function receive({ data }: MessageEvent<string>): void {
    const { type, path = "" }: { type: string; path?: string } = JSON.parse(data);
    if (type === "hello" ? mayHaveMissed : type === "gap" || isShownHere(path)) look();
    mayHaveMissed = true; // whatever came before the next greeting
  }

  /** What changes further down shows here only where it makes a folder. */
  function isShownHere(path: string): boolean {
    const [name, below] = path.slice(folder.length).split("/", 2);
    return below === undefined || !allEntries().some((entry) => entry.kind === "folder" && entry.name === name);
  }

  function listen(): void {
    source?.close();
    source = undefined;
    if (document.hidden) return;
    if (socket === undefined) {
      source = new EventSource(url); // tries again by itself
      for (const type of ["hello", "change", "gap"]) source.addEventListener(type, receive as EventListener);
      return;
    }
    const opened = new WebSocket(url);
    source = opened;
    opened.onmessage = receive;
    opened.onclose = () => source === opened && mayHaveMissed && setTimeout(listen, pauseMs); // not where it never was one
  }

  document.addEventListener("visibilitychange", () => {
    listen();
    if (!document.hidden) look();
  });
  listen();
}
