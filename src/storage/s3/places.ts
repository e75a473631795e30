import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { forbiddenInName } from "../../http/request-target.ts";
import { maxMissing, StorageError, type StoredEntry, type StoredStat } from "../storage.ts";
import type { KeyPage, ListedObject, ListOptions, ObjectStore } from "./object-store.ts";
import { isLostRace } from "./store-error.ts";
import { directoryStat, newMark, newWrite, type StoredObject, tombstone } from "./stored-object.ts";

/** What is at a path. The content of a small file may be at hand. */
export type Found =
  | {
      readonly kind: "file";
      readonly object: StoredObject;
      readonly bytes?: Uint8Array | undefined;
      /** Whether the content of this version was read, and what was made of it may be kept. */
      readonly wasRead?: boolean;
    }
  | { readonly kind: "directory"; readonly stat: StoredStat; readonly tombstone?: StoredObject | undefined }
  | { readonly kind: "nothing"; readonly tombstone?: StoredObject | undefined };

export type FoundFile = Extract<Found, { kind: "file" }>;

/** The object that a change of what was found is on top of. */
export function objectAt(found: Found | undefined): StoredObject | undefined {
  return found?.kind === "file" ? found.object : found?.tombstone;
}

/** Largest file whose content is kept, and how much all of them may hold together, in bytes. */
export const maxKeptBytes: number = 128 * 1024;
const maxBytes = 32 * 1024 * 1024;
const entryBytes = 1024;

/** Keys that the store is asked for at once: as many as it gives. */
const pageKeys = 1000;
/** Comes after every other character, in keys, too. */
const lastCharacter = "\u{10ffff}";
/** Keys without a path that are named in the log. */
const maxTold = 100;
/** How long a change may be begun with what was seen last, in milliseconds. */
const recentMs = 10_000;
/** The same where nothing was there: if another server has made a directory since, a file is made beside it. */
const recentlyMissingMs = 1_000;
/** Longest key, in bytes: a limit of S3. */
const maxKeyBytes = 1024;

const tombstoneTag = `"${hash("md5", tombstone)}"`;

interface Seen {
  readonly found: Found;
  readonly at: number;
}

/**
 * What is where in the store. Paths are keys below a prefix; a directory is there as long as a key begins with its path
 * and a slash; an empty object at just that key is its *marker*.
 */
export class Places {
  readonly store: ObjectStore;
  readonly #prefix: string;
  readonly #seen = new LRUCache<string, Seen>({
    maxSize: maxBytes,
    sizeCalculation: ({ found }) => entryBytes + (found.kind === "file" ? (found.bytes?.byteLength ?? 0) : 0),
  });

  /** Told of keys that no path can spell. */
  report: (problem: unknown) => void = () => {};
  readonly #unspeakable = new Set<string>();

  /** @param prefix `""`, or one that ends in `/` */
  constructor(store: ObjectStore, prefix: string) {
    this.store = store;
    this.#prefix = prefix;
  }

  /** The key of a path: of a file, or with a slash at its end of a directory's marker. */
  keyOf(path: string): string {
    const key = this.#prefix + path.slice(1);
    if (Buffer.byteLength(key) > maxKeyBytes) throw new StorageError("name-too-long");
    return key;
  }

  /** Asks the store what is at a path. A path that ends in `/` is that of a directory, or of nothing. */
  async look(path: string, store: ObjectStore = this.store.timed()): Promise<Found> {
    const object = path.endsWith("/") ? undefined : await store.head(this.keyOf(path));
    const found =
      object && !object.isTombstone ? ({ kind: "file", object } as const) : await this.#without(path, object, store);
    this.saw(path, found);
    return found;
  }

  async #without(path: string, tombstone: StoredObject | undefined, store?: ObjectStore): Promise<Found> {
    const first = await this.firstBelow(path, true, store);
    if (!first && path !== "/") return { kind: "nothing", tombstone };
    return { kind: "directory", stat: directoryStat(unslashed(path), first?.modified ?? new Date(0)), tombstone };
  }

  /** What comes first of a directory, or of what is in it; `undefined` where there is neither. */
  async firstBelow(
    path: string,
    isMarkerIncluded = true,
    store: ObjectStore = this.store,
  ): Promise<ListedObject | undefined> {
    const prefix = this.keyOf(slashed(path));
    let next: string | undefined;
    do {
      const page: KeyPage = await store.list(prefix, next ? { ContinuationToken: next } : { MaxKeys: 2 });
      for (const object of page.objects) {
        const isMarker = object.key === prefix;
        if (isMarker && !isMarkerIncluded) continue;
        // What cannot be shown keeps its directory from being removed, but does not make one.
        if (!isMarker && isMarkerIncluded && !isSpeakable(object.key.slice(prefix.length))) {
          this.#cannotShow(path, object.key);
          continue;
        }
        if (!(await this.#isTombstone(object, store))) return object;
      }
      next = page.next;
    } while (next !== undefined);
    return undefined;
  }

  async #isTombstone({ key, size, etag }: ListedObject, store = this.store): Promise<boolean> {
    if (size !== tombstone.byteLength) return false;
    return etag === tombstoneTag || (await store.head(key))?.isTombstone === true; // tags of encrypted ones differ
  }

  #cannotShow(path: string, key: string): void {
    if (this.#unspeakable.has(key) || this.#unspeakable.size >= maxTold) return;
    this.#unspeakable.add(key);
    const text = `${JSON.stringify(key)} below ${path} cannot be shown: no path can spell the key`;
    this.report(new Error(`${text} (${this.#unspeakable.size} of them so far)`));
  }

  /** The names in a directory in key order, a page of the store at a time; with `after`, those behind that entry. */
  async *list(
    path: string,
    mayHoldOnlyDeleted: boolean,
    after?: StoredEntry,
  ): AsyncGenerator<StoredEntry, void, undefined> {
    const prefix = this.keyOf(slashed(path));
    let isThere = path === "/" || after !== undefined;
    const last = after?.type === "directory" ? `${after.name}/${lastCharacter}` : after?.name;
    let from: ListOptions = last === undefined ? {} : { StartAfter: prefix + last };
    for (;;) {
      const page: KeyPage = await this.store.list(prefix, { MaxKeys: pageKeys, Delimiter: "/", ...from });
      isThere ||= page.objects.length > 0 || page.prefixes.length > 0;
      if (!isThere) throw new StorageError("not-found");
      for (const { key, object } of inOrder(page)) {
        const name = unslashed(key.slice(prefix.length));
        if (key === prefix || (object && (await this.#isTombstone(object)))) continue;
        if (!isSpeakable(name)) this.#cannotShow(path, key);
        else if (object) yield { name, type: "file" };
        else if (!mayHoldOnlyDeleted || (await this.firstBelow(slashed(path) + name)))
          yield { name, type: "directory" };
      }
      if (page.next === undefined) return;
      from = { ContinuationToken: page.next };
    }
  }

  saw(path: string, found: Found): void {
    const known = this.known(path);
    const isUnchanged = found.kind === "file" && known?.object.stat.version === found.object.stat.version;
    const isKnown = isUnchanged && !found.bytes && !found.wasRead;
    this.#seen.set(unslashed(path), { found: isKnown ? known : found, at: performance.now() });
    if (found.kind === "nothing") return;
    // Directories have come with it where there was nothing.
    for (let above = parentOf(path); this.#seen.peek(above)?.found.kind === "nothing"; above = parentOf(above))
      this.#seen.delete(above);
  }

  /** What was at a path a moment ago: enough to begin a change that the store makes only where it is true still. */
  recent(path: string): Found | undefined {
    const seen = this.#seen.get(unslashed(path));
    if (!seen) return undefined;
    const limitMs = seen.found.kind === "nothing" ? recentlyMissingMs : recentMs;
    return performance.now() - seen.at <= limitMs ? seen.found : undefined;
  }

  known(path: string): FoundFile | undefined {
    const found = this.#seen.get(path)?.found;
    return found?.kind === "file" ? found : undefined;
  }

  /** Throws where no file can be stored at a path at which there is nothing. */
  async requireParent(path: string, mayBeMissing: boolean): Promise<void> {
    let missing = 0;
    for (let parent = parentOf(path); parent !== "/"; parent = parentOf(parent)) {
      if (this.recent(parent)?.kind === "directory") return;
      const { kind } = await this.#lookForDirectory(parent);
      if (kind === "directory") return;
      if (kind === "file") throw new StorageError("not-a-directory");
      if (!mayBeMissing) throw new StorageError("no-parent");
      missing += 1;
      if (missing > maxMissing) throw new StorageError("too-deep");
    }
  }

  /** Looks for a directory, which is likely there: a file is only asked for where it is not. */
  async #lookForDirectory(path: string): Promise<Found> {
    let found = await this.#without(path, undefined);
    if (found.kind === "nothing") {
      const object = await this.store.head(this.keyOf(path));
      found = object && !object.isTombstone ? { kind: "file", object } : { kind: "nothing", tombstone: object };
    }
    this.saw(path, found);
    return found;
  }

  /** Makes the marker of a directory that is not there, in one that is. */
  async makeDirectory(path: string): Promise<void> {
    const store = this.store.timed();
    if ((await this.look(unslashed(path), store)).kind !== "nothing") throw new StorageError("exists");
    const parent = parentOf(path);
    const above = parent === "/" ? "directory" : (await this.look(parent, store)).kind;
    if (above !== "directory") throw new StorageError(above === "file" ? "not-a-directory" : "no-parent");
    if (!(await this.makeMarker(path, store))) throw new StorageError("exists");
  }

  /** Makes the marker of a directory; whether it was not there. The root has no marker. */
  async makeMarker(path: string, store: ObjectStore): Promise<boolean> {
    if (path === "/") return false;
    const write = newWrite(newMark(), undefined);
    try {
      await store.put(this.keyOf(slashed(path)), new Uint8Array(), write, { IfNoneMatch: "*" });
      return true;
    } catch (error) {
      if (isLostRace(error)) return false;
      throw error;
    }
  }

  /** Why there is no file at a path. */
  async missing(path: string, found: Found): Promise<StorageError> {
    if (found.kind === "directory") return new StorageError("is-directory");
    await this.requireParent(path, true).catch((error: unknown) => {
      if (!(error instanceof StorageError && error.code === "too-deep")) throw error;
    });
    return new StorageError("not-found");
  }
}

function isSpeakable(rest: string): boolean {
  return unslashed(rest)
    .split("/")
    .every((name) => name !== "" && name !== "." && name !== ".." && !forbiddenInName.test(name));
}

/** Files and directories of a page in the order of the store, which is that of the bytes of keys. */
function inOrder({ objects, prefixes }: KeyPage): readonly { readonly key: string; readonly object?: ListedObject }[] {
  const keys = [...objects.map((object) => ({ key: object.key, object })), ...prefixes.map((key) => ({ key }))];
  return keys
    .map((each) => ({ ...each, bytes: Buffer.from(each.key) }))
    .sort((one, other) => Buffer.compare(one.bytes, other.bytes));
}

export function parentOf(path: string): string {
  return path.slice(0, unslashed(path).lastIndexOf("/")) || "/";
}

export function slashed(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

export function unslashed(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
