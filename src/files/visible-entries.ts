import { itemsInSlices, TimeSlice } from "../event-loop/sliced-work.ts";
import { sortInSlices } from "../event-loop/sort-in-slices.ts";
import { HttpError } from "../http/http-error.ts";
import { forbiddenInName, isHiddenPath } from "../http/request-target.ts";
import type { ZipOptions } from "../server/site.ts";
import { type Storage, StorageError, type StoredEntry, type StoredStat } from "../storage/storage.ts";
import type { FileRequest } from "./file-request.ts";
import { compareNames } from "./listing-query.ts";

/** A {@link TimeSlice} of work for one client, which ends the work when that client has left. */
export class ClientSlice extends TimeSlice {
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    super();
    this.#signal = signal;
  }

  override get isOver(): boolean {
    return super.isOver || this.#signal.aborted;
  }

  override async renew(): Promise<void> {
    await super.renew();
    if (this.#signal.aborted) throw new HttpError(499, "CLIENT_LEFT", "The client has left.");
  }
}

/** Names that no URL can spell in UTF-8: half a surrogate pair. */
const unspeakable = /\p{Surrogate}/u;

/** What is in a directory as far as the client may see it, in the order of the storage. */
export async function* visibleNames(
  { exchange, storage, options }: FileRequest,
  directory: string,
  slice: ClientSlice,
  { after, leftOut = () => {} }: { readonly after?: StoredEntry | undefined; readonly leftOut?: () => void } = {},
): AsyncGenerator<StoredEntry> {
  const { access } = exchange;
  for await (const entry of storage.list(directory, after)) {
    // A storage that has everything in memory gives it without ever waiting.
    if (slice.isOver) await slice.renew();
    const { name, type } = entry;
    const path = directory + name;
    // A name that no request can spell would be a link to an error.
    const isHidden = forbiddenInName.test(name) || unspeakable.test(name) || isHiddenPath(path, options.dotfiles);
    const isPermitted =
      type === "directory" ? access.permitsPath("list", `${path}/`) : access.permitsPath("read", path);
    if (isPermitted && !isHidden) yield entry;
    else leftOut();
  }
}

interface TreeChoice {
  /** Called for what the client may not see, and for links. */
  readonly leftOut?: () => void;
  /** Whether an entry is meant, by its path from the directory. @default all */
  readonly isMeant?: (path: string) => boolean;
}

/**
 * All below a directory that the client may see, named by the path from there; a directory comes after what is in it.
 * What links lead to is not looked into. A directory that cannot be read any more is left out, not told to be empty.
 */
async function* visibleBelow(
  request: FileRequest,
  slice: ClientSlice,
  { leftOut = () => {}, isMeant = () => true }: TreeChoice = {},
): AsyncGenerator<StoredEntry> {
  const { exchange, path: top } = request;
  const folders: StoredEntry[] = [{ name: "", type: "directory" }];
  for (const folder of folders) {
    const before = folder.name === "" ? "" : `${folder.name}/`;
    try {
      for await (const entry of visibleNames(request, top + before, slice, { leftOut })) {
        const found = { ...entry, name: before + entry.name };
        if (!isMeant(found.name)) continue;
        // What is protected below the directory did not ask who the client is.
        const isVisible = exchange.site.isGuardedAlike(top, pathOf(top, found));
        if (!isVisible || found.isLink) leftOut();
        if (!isVisible) continue;
        if (found.type === "directory" && !found.isLink) folders.push(found);
        else yield found;
      }
    } catch (error) {
      if (folder.name === "") throw error;
      unlessInSight(error);
      continue;
    }
    if (folder.name !== "") yield folder;
  }
}

/** The paths of all files below a directory, also of those that the client may not see. */
export async function* filesBelow(storage: Storage, directory: string): AsyncGenerator<string> {
  const directories: string[] = [];
  for await (const { name, type } of storage.list(directory)) {
    if (type === "directory") directories.push(`${directory}${name}/`);
    else yield directory + name;
  }
  for (const each of directories) yield* filesBelow(storage, each);
}

/** Names that a search looks at. */
const maxSearched = 100_000;

/** What is in a directory and below with a text in its name, in any case, without accents, by its path from there. */
export async function* searchBelow(
  request: FileRequest,
  text: string,
  slice: ClientSlice,
): AsyncGenerator<StoredEntry> {
  const wanted = plain(text);
  let looked = 0;
  for await (const entry of visibleBelow(request, slice)) {
    looked += 1;
    if (looked > maxSearched) throw tooLarge(`It has more than ${maxSearched.toLocaleString("en")} names.`);
    if (plain(entry.name.slice(entry.name.lastIndexOf("/") + 1)).includes(wanted)) yield entry;
  }
}

function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

export type TreeLimits = Required<ZipOptions>;

/** Without what was measured, which takes ten times the memory. */
export interface TreeEntry extends Pick<StoredEntry, "type"> {
  readonly path: string;
}

/** All below a directory that the client could ask for, but not through links to directories; 413 beyond the limits. */
export async function visibleTree(
  request: FileRequest,
  { maxEntries, maxBytes }: TreeLimits,
  choice: TreeChoice = {},
  slice: ClientSlice = new ClientSlice(request.exchange.signal),
): Promise<readonly TreeEntry[]> {
  const { storage, path: top, exchange, openListing } = request;
  const hold = openListing(exchange);
  const names: StoredEntry[] = [];
  for await (const entry of visibleBelow(request, slice, choice)) {
    if (entry.type === "directory" && entry.isLink) continue;
    hold(names.push(entry));
    if (names.length > maxEntries) {
      throw tooLarge(`It has more than ${maxEntries.toLocaleString("en")} files and folders.`);
    }
  }
  // Sorted so, each directory comes before what is in it.
  const sorted = await sortInSlices(names, compareNames, slice);
  const tree: TreeEntry[] = [];
  let bytes = 0;
  for await (const batch of itemsInSlices(measureEntries(storage, top, sorted), slice)) {
    for (const entry of batch) {
      bytes += entry.stat.size;
      if (bytes > maxBytes) throw tooLarge(`Its files have more than ${maxBytes.toLocaleString("en")} bytes.`);
      tree.push({ type: entry.type, path: pathOf(top, entry) });
    }
  }
  return tree;
}

function pathOf(directory: string, { name, type }: StoredEntry): string {
  return directory + name + (type === "directory" ? "/" : "");
}

function tooLarge(details: string): HttpError {
  return new HttpError(413, "DIRECTORY_TOO_LARGE", `${details} Ask for a folder in it.`);
}

/** How many entries are measured together: enough to keep a disk busy, few enough to leave others room. */
const batchSize = 32;

export interface ListedEntry extends StoredEntry {
  readonly stat: StoredStat;
}

/** Measures entries in batches, as they are asked for. Those that are gone, changed or out of sight are left out. */
export async function* measureEntries(
  storage: Pick<Storage, "stat">,
  path: string,
  names: readonly StoredEntry[],
): AsyncGenerator<ListedEntry[]> {
  for (let start = 0; start < names.length; start += batchSize) {
    const batch = names.slice(start, start + batchSize);
    const stats = await Promise.all(batch.map(({ name }) => storage.stat(path + name).catch(unlessInSight)));
    yield batch.flatMap(({ name, type }, index) => {
      const stat = stats[index];
      return stat?.type === type ? [{ name, type, stat }] : [];
    });
  }
}

const hides: ReadonlySet<string> = new Set(["forbidden", "name-too-long", "not-found", "not-a-directory"]);

/** An entry that has gone since, or is not for us to see any more, is left out like one that was never there. */
export function unlessInSight(error: unknown): undefined {
  if (!(error instanceof StorageError && hides.has(error.code))) throw error;
}
