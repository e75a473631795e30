import { fetchOk } from "../page-error.ts";
import { addressOf, button, type Entry, noteLine, reasonOf, refresh, say, withControlsShown } from "./entries.ts";

/** Renames an entry or moves it to another folder, a file as it was listed, and never over what is there. */
export async function move({ name, link, tag = "*" }: Entry): Promise<void> {
  const path = prompt(withControlsShown(`New name of ${name}, or its path from here:`), name)?.trim();
  if (!path || path === name) return;
  const headers = { destination: new URL(addressOf(path)).pathname, overwrite: "F", "if-match": tag };
  await told(fetchOk(link.href, { method: "MOVE", headers }), `Moved: ${name} to ${path}.`, `${name} was not moved`);
}

/** Makes a folder in this one. */
export async function newFolder(): Promise<void> {
  const name = prompt("Name of the new folder")?.trim();
  if (!name) return;
  await told(fetchOk(addressOf(`${name}/`), { method: "MKCOL" }), `Made: ${name}/.`, `${name}/ was not made`);
}

/** Deletes an entry if the user says so, a folder with all that is in it; each file as it was listed. */
export async function remove({ name, kind, link, tag }: Entry): Promise<void> {
  const isFolder = kind === "folder";
  if (!confirm(withControlsShown(`Delete ${name}${isFolder ? " with all that is in it" : ""}?`))) return;
  const stopped = new AbortController();
  const deleting = isFolder ? removeFolder(link.pathname, stopped) : removeAs(tag, link.href);
  await told(deleting, `Deleted: ${name}.`, `${name} was not deleted`);
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

/** An entry of a listing in JSON. */
interface ListedEntry {
  readonly name: string;
  readonly type: "file" | "directory";
  readonly etag?: string;
}

function removeAs(tag: string | undefined, address: string): Promise<Response> {
  return fetchOk(address, { method: "DELETE", headers: tag ? { "if-match": tag } : {} });
}

/** Lists again when a change is over, and says how it went. */
async function told(change: Promise<unknown>, done: string, failed: string): Promise<void> {
  const text = await change.then(
    () => done,
    (error) => `${failed}: ${reasonOf(error)}`,
  );
  await refresh();
  say(text);
}
