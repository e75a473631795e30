import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { LRUCache } from "lru-cache";
import { errnoOf, meansAbsent } from "./file-record.ts";

/** How long is relied on what a directory was found to do: another file system can be mounted in its place. */
const reliedOnMs = 60_000;
const known = { maxSize: 10_000, sizeCalculation: () => 1, ttl: reliedOnMs, ttlResolution: 1000 } as const;

/**
 * The names by which directories list what is in them. Some file systems find a file by other names, too: in another
 * case, in another form of Unicode, by a short name (`GIT~1` for `.git`). Rules, locks and caches must not take these
 * for other files.
 */
export class ListedNames {
  readonly #root: string;
  /** Whether a directory finds nothing by names that differ from those it lists in case only; its own way is listed. */
  readonly #directories = new LRUCache<string, boolean>(known);
  /** Locations whose last name is known to be listed, where their directory does not say it for all. */
  readonly #listed = new LRUCache<string, true>(known);

  /** `root` is spelled as it is listed. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Whether a location below the root is known to be spelled as it is listed, without asking the disk. */
  isKnown(location: string): boolean {
    const isExact = this.#directories.get(dirname(location));
    const name = basename(location);
    if (isExact === undefined) return false;
    // A name without letters and `~` has one spelling on every file system.
    return (isAscii(name) && (isExact || !/[a-z~]/i.test(name))) || this.#listed.has(location);
  }

  /**
   * A location below the root, spelled as it is listed; where nothing is there, the rest of it as it is. `undefined`
   * for one that leads to something by a name that is not a spelling of a listed one.
   */
  async listed(location: string): Promise<string | undefined> {
    if (location === this.#root || this.isKnown(location)) return location;
    let place = this.#root;
    const names = location.slice(place.length).split(sep).filter(Boolean);
    for (const [i, name] of names.entries()) {
      if (!this.#directories.has(place)) this.#directories.set(place, false);
      const found = this.isKnown(join(place, name)) ? name : await this.#listedIn(place, name);
      if (found === undefined) return undefined;
      if (found === "") return join(place, ...names.slice(i));
      place = join(place, found);
    }
    return place;
  }

  /** The name listed for a file found by another; `""` if nothing is found, `undefined` if it lists nothing. */
  async #listedIn(directory: string, name: string): Promise<string | undefined> {
    const finds = (each: string): Promise<boolean> => isThere(join(directory, each));
    const others = variants(name);
    const [isFound, ...areFound] = await Promise.all([name, ...others].map(finds));
    if (!isFound) return "";
    const isShort = others.length === 0; // "12~1" has no other case
    if (!isShort && !areFound.includes(true)) {
      this.#directories.set(directory, true);
      if (!isAscii(name)) this.#listed.set(join(directory, name), true);
      return name;
    }
    const names = await readdir(directory).catch((error: unknown): string[] => {
      if (meansAbsent(error) || errnoOf(error) === "EACCES") return []; // no name can be told then
      throw error;
    });
    const listed = names.includes(name) ? name : spelledLike(name, names);
    this.#directories.set(directory, false);
    if (listed !== undefined) this.#listed.set(join(directory, listed), true);
    return listed;
  }
}

/** The same text for all names that a file system may take for one. */
export function foldedName(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

function spelledLike(name: string, names: readonly string[]): string | undefined {
  const folded = foldedName(name);
  const alike = names.filter((each) => foldedName(each) === folded);
  return alike.length === 1 ? alike[0] : undefined;
}

/** Other spellings; if the file system folds names, one of them finds the same file. */
function variants(name: string): string[] {
  const swapped = (text: string): string => (text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase());
  const ascii = name.replace(/[a-z]+/gi, swapped);
  const form = name.normalize("NFC") === name ? name.normalize("NFD") : name.normalize("NFC");
  return [...new Set([ascii, isAscii(name) ? ascii : swapped(name), form])].filter((each) => each !== name);
}

function isAscii(name: string): boolean {
  return /^[\x00-\x7f]*$/.test(name);
}

/** What cannot be looked at is not there for us either; the operation that follows says why. */
async function isThere(location: string): Promise<boolean> {
  try {
    await lstat(location);
    return true;
  } catch (error) {
    if (meansAbsent(error) || ["EACCES", "ENAMETOOLONG", "EINVAL", "EILSEQ"].includes(errnoOf(error))) return false;
    throw error;
  }
}
