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

/** How long deleted entries can be had back after the last of them, in milliseconds. */
const undoMs = 8_000;

/** Where the page says what it will delete, beside the button that has it back. */
export const undoLine: HTMLElement = statusLine();

/** What can still be had back, by name. */
const waiting = new Map<string, Entry>();
/** The names of what the server is asked to delete. */
const going = new Set<string>();
let timer: ReturnType<typeof setTimeout>;

hideWhere(({ name }) => waiting.has(name) || going.has(name));
addEventListener("pagehide", finish); // leaving the page decides

/** Takes an entry out of the listing, and deletes it when there was time to have it back. */
export function remove(entry: Entry): void {
  const shown = entriesShown();
  const at = shown.findIndex(({ name }) => name === entry.name);
  waiting.set(entry.name, entry);
  showEntries();
  clearTimeout(timer);
  timer = setTimeout(finish, undoMs);
  const undoButton = button("Undo", undo);
  undoLine.replaceChildren(`${inWords([...waiting.keys()])} will be deleted. `, undoButton);
  (shown[at + 1]?.link ?? shown[at - 1]?.link ?? undoButton).focus();
}

function undo(): void {
  clearTimeout(timer);
  const names = [...waiting.keys()];
  waiting.clear();
  showEntries();
  undoLine.replaceChildren();
  say(`${inWords(names)} will stay.`);
  entriesShown()
    .find(({ name }) => name === names.at(-1))
    ?.link.focus();
}

async function finish(): Promise<void> {
  clearTimeout(timer);
  const entries = [...waiting.values()];
  if (entries.length === 0) return;
  waiting.clear();
  for (const { name } of entries) going.add(name);
  undoLine.replaceChildren();
  const reasons = await Promise.all(entries.map(({ link }) => deleted(link.href)));
  for (const { name } of entries) going.delete(name);
  const kept = entries.flatMap(({ name }, index) =>
    reasons[index] ? `${name} was not deleted: ${reasons[index]}` : [],
  );
  const gone = entries.filter((_, index) => reasons[index] === undefined).map(({ name }) => name);
  say([...(gone.length > 0 ? [`Deleted: ${inWords(gone)}.`] : []), ...kept].join(" "));
  await refresh();
}

/** Deletes what an address leads to; or tells why it is still there. */
async function deleted(address: string): Promise<string | undefined> {
  const response = await fetch(address, { method: "DELETE", keepalive: true }).catch(() => undefined);
  if (!response) return "the server cannot be reached.";
  return response.ok ? undefined : reasonOf(response);
}

function inWords(names: readonly string[]): string {
  return names.length === 1 ? withControlsShown(`${names[0]}`) : `${names.length} entries`;
}
