import { TimeSlice } from "../event-loop/sliced-work.ts";
import { HttpError } from "../http/http-error.ts";
import { forbiddenInName, isHiddenPath } from "../http/request-target.ts";
import { type Storage, StorageError, type StoredEntry, type StoredStat } from "../storage/storage.ts";
import type { FileRequest } from "./file-request.ts";
import { compareNames } from "./listing-query.ts";
import { sortInSlices } from "./select-names.ts";

/** A {@link TimeSlice} of work for one client, which ends the work when that client has left. */
export class ClientSlice {
  readonly #slice: TimeSlice = new TimeSlice();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get isOver(): boolean {
    return this.#slice.isOver || this.#signal.aborted;
  }

  /** Lets everything run that waits for the event loop. Throws once the client has left. */
  async renew(): Promise<void> {
    this.#refuseLeft();
    await this.#slice.renew();
    this.#refuseLeft();
  }

  #refuseLeft(): void {
    if (this.#signal.aborted) throw new HttpError(499, "CLIENT_LEFT", "The client has left.");
  }
}

/** Names that no URL can spell in UTF-8: half a surrogate pair. */
const unspeakable = /\p{Surrogate}/u;

/** Directories that may lie in one another. */
const maxDepth = 64;

/** What is in a directory as far as the client may see it, in the order of the storage. */
export async function* visibleNames(
  { exchange, storage, options }: FileRequest,
  directory: string,
  after?: StoredEntry,
  leftOut: () => void = () => {},
): AsyncGenerator<StoredEntry> {
  const { access } = exchange;
  for await (const entry of storage.list(directory, after)) {
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

/** Names that a search looks at. */
const maxSearched = 100_000;

/** What is in a directory and below with a text in its name, in any case and without accents, by its path from there. */
export async function* visibleBelow(
  request: FileRequest,
  text: string,
  slice: ClientSlice,
): AsyncGenerator<StoredEntry> {
  const { exchange, path: top } = request;
  const wanted = plain(text);
  const folders = [""];
  let looked = 0;
  for (const folder of folders) {
    try {
      for await (const entry of visibleNames(request, top + folder)) {
        if (slice.isOver) await slice.renew();
        looked += 1;
        if (looked > maxSearched) throw tooLarge(`It has more than ${maxSearched.toLocaleString("en")} names.`);
        const name = folder + entry.name;
        if (!exchange.site.isGuardedAlike(top, pathOf(top + folder, entry))) continue;
        if (entry.type === "directory" && !entry.isLink) folders.push(`${name}/`);
        if (plain(entry.name).includes(wanted)) yield { ...entry, name };
      }
    } catch (error) {
      if (folder === "" || !isOutOfSight(error)) throw error;
    }
  }
}

function plain(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

export interface TreeLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export interface TreeEntry extends Omit<ListedEntry, "name"> {
  readonly path: string;
}

interface TreeChoice {
  /** Called for what the client may not see, and for links. */
  readonly leftOut?: () => void;
  /** Whether an entry is meant, by its path from the directory. @default all */
  readonly isMeant?: (path: string) => boolean;
}

/** All below a directory that the client could ask for, in the order of listings; 413 beyond the limits. */
export async function visibleTree(
  request: FileRequest,
  { maxEntries, maxBytes }: TreeLimits,
  { leftOut = () => {}, isMeant = () => true }: TreeChoice = {},
  slice: ClientSlice = new ClientSlice(request.exchange.signal),
): Promise<readonly TreeEntry[]> {
  const { storage, path: top, exchange, listings } = request;
  const hold = listings.open(exchange);
  const tree: TreeEntry[] = [];
  let bytes = 0;
  let found = 0;

  const namesIn = async (directory: string): Promise<StoredEntry[]> => {
    const names: StoredEntry[] = [];
    for await (const entry of visibleNames(request, directory, undefined, leftOut)) {
      if (slice.isOver) await slice.renew();
      if (!isMeant((directory + entry.name).slice(top.length))) continue;
      // What is protected below the directory did not ask who the client is.
      if (!exchange.site.isGuardedAlike(top, pathOf(directory, entry))) {
        leftOut();
        continue;
      }
      if (entry.isLink) leftOut();
      found += 1;
      if (found > maxEntries) throw tooLarge(`It has more than ${maxEntries.toLocaleString("en")} files and folders.`);
      hold(found);
      names.push(entry);
    }
    return sortInSlices(names, compareNames, slice);
  };

  const add = async (directory: string, above: readonly string[]): Promise<void> => {
    if (above.length > maxDepth) throw tooLarge(`More than ${maxDepth} folders in it lie in one another.`);
    for await (const batch of measureEntries(storage, directory, await namesIn(directory))) {
      if (slice.isOver) await slice.renew();
      for (const entry of batch) {
        const { type, stat } = entry;
        if (type === "directory" && above.includes(stat.version)) continue;
        const path = pathOf(directory, entry);
        bytes += stat.size;
        if (bytes > maxBytes) throw tooLarge(`Its files have more than ${maxBytes.toLocaleString("en")} bytes.`);
        tree.push({ path, type, stat });
        if (type === "directory") await addIfThere(path, [...above, stat.version]);
      }
    }
  };

  /** A directory that cannot be read any more is left out, not told to be empty. */
  const addIfThere = async (directory: string, above: readonly string[]): Promise<void> => {
    const { length } = tree;
    try {
      await add(directory, above);
    } catch (error) {
      if (!isOutOfSight(error)) throw error;
      tree.length = length - 1;
    }
  };

  await add(top, [request.stat?.version ?? ""]);
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
    const stats = await Promise.all(batch.map(({ name }) => statOf(storage, path + name)));
    yield batch.flatMap(({ name, type }, index) => {
      const stat = stats[index];
      return stat?.type === type ? [{ name, type, stat }] : [];
    });
  }
}

async function statOf(storage: Pick<Storage, "stat">, path: string): Promise<StoredStat | undefined> {
  try {
    return await storage.stat(path);
  } catch (error) {
    if (isOutOfSight(error)) return undefined;
    throw error;
  }
}

const hides: ReadonlySet<string> = new Set(["forbidden", "name-too-long", "not-found", "not-a-directory"]);

export function isOutOfSight(error: unknown): boolean {
  return error instanceof StorageError && hides.has(error.code);
}
