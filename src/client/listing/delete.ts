import {
  button,
  type Entry,
  entriesShown,
  hideWhere,
  reasonOf,
  refresh,
  say,
  showEntries,
  statusLine,
  withControlsShown,
} from "./entries.ts";

/** How long a deleted entry can be had back, in milliseconds. */
const undoMs = 8_000;

/** Where the page says what it will delete, beside the button that has it back. */
export const undoLine: HTMLElement = statusLine();

/** What can still be had back, by name, and what ends that. */
const waiting = new Map<string, { readonly entry: Entry; readonly timer: ReturnType<typeof setTimeout> }>();
/** The names of what the server is asked to delete. */
const going = new Set<string>();

hideWhere(({ name }) => waiting.has(name) || going.has(name));
addEventListener("pagehide", () => finish([...waiting.keys()])); // leaving the page decides
// A page that the browser has kept shows what has gone since.
addEventListener("pageshow", ({ persisted }) => {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (persisted || navigation?.type === "back_forward") refresh();
});

/** Takes an entry out of the listing, and deletes it when there was time to have it back. */
export function remove(entry: Entry): void {
  const shown = entriesShown();
  const at = shown.findIndex(({ name }) => name === entry.name);
  waiting.set(entry.name, { entry, timer: setTimeout(() => finish([entry.name]), undoMs) });
  showEntries();
  showWaiting();
  (shown[at + 1]?.link ?? shown[at - 1]?.link ?? undoLine.querySelector("button"))?.focus();
}

function showWaiting(): void {
  const names = [...waiting.keys()];
  undoLine.replaceChildren(...(names.length > 0 ? [`${inWords(names)} will be deleted. `, button("Undo", undo)] : []));
}

function undo(): void {
  const names = [...waiting.keys()];
  for (const { timer } of waiting.values()) clearTimeout(timer);
  waiting.clear();
  showEntries();
  showWaiting();
  say(`${inWords(names)} will stay.`);
  entriesShown()
    .find(({ name }) => name === names.at(-1))
    ?.link.focus();
}

async function finish(names: readonly string[]): Promise<void> {
  const entries: Entry[] = [];
  for (const name of names) {
    const found = waiting.get(name);
    if (!found) continue;
    clearTimeout(found.timer);
    waiting.delete(name);
    going.add(name);
    entries.push(found.entry);
  }
  if (entries.length === 0) return;
  showWaiting();
  const reasons = await Promise.all(entries.map(({ link, tag }) => deleted(link.href, tag)));
  for (const { name } of entries) going.delete(name);
  const kept = entries.flatMap(({ name }, index) =>
    reasons[index] ? `${name} was not deleted: ${reasons[index]}` : [],
  );
  const gone = entries.filter((_, index) => reasons[index] === undefined).map(({ name }) => name);
  say([...(gone.length > 0 ? [`Deleted: ${inWords(gone)}.`] : []), ...kept].join(" "));
  await refresh();
}

/** Deletes what an address leads to, as it was listed; or tells why it is still there. */
async function deleted(address: string, tag: string | undefined): Promise<string | undefined> {
  const headers: HeadersInit = tag ? { "if-match": tag } : {};
  const response = await fetch(address, { method: "DELETE", headers, keepalive: true }).catch(() => undefined);
  if (!response) return "the server cannot be reached.";
  return response.ok ? undefined : reasonOf(response);
}

function inWords(names: readonly string[]): string {
  return names.length === 1 ? withControlsShown(`${names[0]}`) : `${names.length} entries`;
}
