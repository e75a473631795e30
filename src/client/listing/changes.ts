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

/** Renames an entry, or moves some to another folder; files as they were listed, and never over what is there. */
export async function move(entries: readonly Entry[]): Promise<void> {
  const what = described(entries);
  const isOne = entries.length === 1;
  const question = isOne ? `New name of ${what}, or its path from here:` : `Folder for ${what}, by its path from here:`;
  const path = prompt(withControlsShown(question), isOne ? what : "")
    ?.trim()
    .replace(/\/$/, "");
  if (!path || path === what) return;
  const moveOne = ({ name, link, tag = "*" }: Entry): Promise<Response> => {
    const target = isOne ? path : `${path}/${name.replace(/^.*\//, "")}`;
    const headers = { destination: new URL(addressOf(target)).pathname, overwrite: "F", "if-match": tag };
    return fetchOk(link.href, { method: "MOVE", headers });
  };
  await changeEach(entries, moveOne, "moved", `Moved: ${what} to ${path}.`);
}

export async function newFolder(): Promise<void> {
  const name = prompt("Name of the new folder")?.trim();
  if (!name) return;
  const make = (): Promise<Response> => fetchOk(addressOf(`${name}/`), { method: "MKCOL" });
  await changeEach([{ name: `${name}/` }], make, "made", `Made: ${name}/.`);
}

/** Deletes entries if the user says so, folders with all that is in them; each file as it was listed. */
export async function remove(entries: readonly Entry[]): Promise<void> {
  const what = described(entries);
  const all = entries.some(isFolder) ? " with everything inside" : "";
  if (!confirm(withControlsShown(`Delete ${what}${all}?`))) return;
  const stopped = new AbortController();
  const removeOne = (entry: Entry): Promise<unknown> =>
    isFolder(entry) ? removeFolder(entry.link.pathname, stopped) : removeAs(entry.tag, entry.link.href);
  await changeEach(entries, removeOne, "deleted", `Deleted: ${what}.`);
}

function described(entries: readonly Entry[]): string {
  const [first, ...others] = entries;
  return first && others.length === 0 ? first.name : `${entries.length} entries`;
}

/** Makes a change of one after the other, and says then what was done, or what could not be done and why. */
async function changeEach<Item extends { readonly name: string }>(
  items: readonly Item[],
  change: (item: Item) => Promise<unknown>,
  verb: string,
  done: string,
): Promise<void> {
  let current = "";
  let outcome = done;
  try {
    for (const item of items) {
      current = item.name;
      await change(item);
    }
  } catch (error) {
    outcome = `${current} was not ${verb}: ${reasonOf(error)}`;
  }
  await refresh();
  say(outcome);
}

const isFolder = ({ kind }: Entry): boolean => kind === "folder";

/** File by file, so that what others change or add meanwhile stays. */
async function removeFolder(address: string, stopped: AbortController): Promise<void> {
  say(`Deleting ${decodeURIComponent(address)} `);
  noteLine.append(button("Stop", () => stopped.abort("You have stopped it.")));
  for (;;) {
    const response = await fetchOk(address, { headers: { accept: "application/json" }, cache: "no-store" });
    const { entries }: { entries: ReadonlyArray<Record<string, string>> } = await response.json();
    if (entries.length === 0) break; // it may have been the last of several pages
    for (const { name = "", type, etag } of entries) {
      const entry = address + encodeURIComponent(name);
      if (type === "directory") await removeFolder(`${entry}/`, stopped);
      else await removeAs(etag, entry);
      stopped.signal.throwIfAborted();
    }
  }
  await removeAs(undefined, address);
}

function removeAs(tag: string | undefined, address: string): Promise<Response> {
  return fetchOk(address, { method: "DELETE", headers: tag ? { "if-match": tag } : {} });
}

const selected = new Set<Entry>();
const count = made("span");

export const selectionBar: HTMLElement = made("div", { className: "selection", hidden: true }, count);
const moving = button("Move", () => move([...selected]));
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
  if (!entry.may.includes("delete") && !hasZip()) return ""; // what may be moved may be deleted
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
  moving.hidden = !entries.every(({ may }) => may.includes("move"));
  removing.hidden = !entries.every(({ may }) => may.includes("delete"));
  zip.hidden = !hasZip();
}

function hasZip(): boolean {
  return document.querySelector(".bar > .zip") !== null;
}
