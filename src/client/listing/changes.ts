import { fetchOk } from "../send.ts";
import {
  addressOf,
  button,
  type Entry,
  encoded,
  made,
  noteLine,
  reasonOf,
  refresh,
  say,
  withControlsShown,
} from "./entries.ts";

/** Renames an entry or moves it to another folder, a file as it was listed, and never over what is there. */
export async function move(entry: Entry): Promise<void> {
  const { name } = entry;
  const path = prompt(withControlsShown(`New name of ${name}, or its path from here:`), name)?.trim();
  if (!path || path === name) return;
  await told(moveTo(entry, path), `Moved: ${name} to ${path}.`, `${name} was not moved`);
}

export async function moveAll(entries: readonly Entry[]): Promise<void> {
  const folder = prompt(`Folder for the ${entries.length} entries, by its path from here:`)?.trim().replace(/\/$/, "");
  if (!folder) return;
  const moving = eachOf(entries, (entry) => moveTo(entry, `${folder}/${entry.name.replace(/^.*\//, "")}`));
  await told(moving, `Moved: ${entries.length} entries to ${folder}.`, "Not all were moved");
}

function moveTo({ link, tag = "*" }: Entry, path: string): Promise<Response> {
  const headers = { destination: new URL(addressOf(path)).pathname, overwrite: "F", "if-match": tag };
  return fetchOk(link.href, { method: "MOVE", headers });
}

async function eachOf(entries: readonly Entry[], change: (entry: Entry) => Promise<unknown>): Promise<void> {
  for (const entry of entries)
    await change(entry).catch((error) => Promise.reject(`${entry.name}: ${reasonOf(error)}`));
}

export async function newFolder(): Promise<void> {
  const name = prompt("Name of the new folder")?.trim();
  if (!name) return;
  await told(fetchOk(addressOf(`${name}/`), { method: "MKCOL" }), `Made: ${name}/.`, `${name}/ was not made`);
}

/** Deletes entries if the user says so, folders with all that is in them; each file as it was listed. */
export async function remove(entries: readonly Entry[]): Promise<void> {
  const [first, ...others] = entries;
  if (!first) return;
  const what = others.length > 0 ? `${entries.length} entries` : first.name;
  const inside = others.length > 0 ? "the folders" : "it";
  const all = entries.some(isFolder) ? ` with all that is in ${inside}` : "";
  if (!confirm(withControlsShown(`Delete ${what}${all}?`))) return;
  const stopped = new AbortController();
  const removeOne = (entry: Entry): Promise<unknown> =>
    isFolder(entry) ? removeFolder(entry.link.pathname, stopped) : removeAs(entry.tag, entry.link.href);
  if (others.length > 0) await told(eachOf(entries, removeOne), `Deleted: ${what}.`, "Not all were deleted");
  else await told(removeOne(first), `Deleted: ${what}.`, `${what} was not deleted`);
}

function isFolder({ kind }: Entry): boolean {
  return kind === "folder";
}

/** File by file, so that what others change or add meanwhile stays. */
async function removeFolder(address: string, stopped: AbortController): Promise<void> {
  say(`Deleting ${decodeURIComponent(address)} `);
  noteLine.append(button("Stop", () => stopped.abort("You have stopped it.")));
  for (;;) {
    const response = await fetchOk(address, { headers: { accept: "application/json" }, cache: "no-store" });
    const { entries }: { entries: readonly ListedEntry[] } = await response.json();
    if (entries.length === 0) break; // it may have been the last of several pages
    for (const { name, type, etag } of entries) {
      const entry = address + encodeURIComponent(name);
      if (type === "directory") await removeFolder(`${entry}/`, stopped);
      else await removeAs(etag, entry);
      stopped.signal.throwIfAborted();
    }
  }
  await removeAs(undefined, address);
}

interface ListedEntry {
  readonly name: string;
  readonly type: "file" | "directory";
  readonly etag?: string;
}

function removeAs(tag: string | undefined, address: string): Promise<Response> {
  return fetchOk(address, { method: "DELETE", headers: tag ? { "if-match": tag } : {} });
}

async function told(change: Promise<unknown>, done: string, failed: string): Promise<void> {
  const text = await change.then(
    () => done,
    (error) => `${failed}: ${reasonOf(error)}`,
  );
  await refresh();
  say(text);
}

const selected = new Set<Entry>();
const count = made("span");

export const selectionBar: HTMLElement = made("div", { className: "selection", hidden: true }, count);
const moving = button("Move", () => moveAll([...selected]));
const removing = button("Delete", () => remove([...selected]));
const zip = button("Download as .zip", () => {
  location.assign(`?zip&${[...selected].map(({ name }) => `name=${encoded(name)}`).join("&")}`);
});
selectionBar.append(moving, removing, zip);
document.addEventListener("listing", () => {
  selected.clear();
  showSelection();
});

/** Selects an entry, together with others; nothing where nothing can be done with several. */
export function checkboxOf(entry: Entry): HTMLInputElement | "" {
  if (!entry.mayMove && !entry.mayDelete && !hasZip()) return "";
  const checkbox = made("input", { type: "checkbox", ariaLabel: withControlsShown(`Select ${entry.name}`) });
  checkbox.addEventListener("change", () => {
    if (checkbox.checked) selected.add(entry);
    else selected.delete(entry);
    showSelection();
  });
  return checkbox;
}

function showSelection(): void {
  const entries = [...selected];
  selectionBar.hidden = entries.length === 0;
  count.textContent = `${entries.length} selected`;
  moving.hidden = !entries.every(({ mayMove }) => mayMove);
  removing.hidden = !entries.every(({ mayDelete }) => mayDelete);
  zip.hidden = !hasZip();
}

function hasZip(): boolean {
  return document.querySelector(".bar > .zip") !== null;
}
