import { realpathSync, statSync } from "node:fs";
import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import { maxMissing, StorageError } from "../storage.ts";
import { asStorageError, errnoOf, meansAbsent } from "./file-record.ts";
import { foldedName, ListedNames } from "./listed-names.ts";
import { hasTemporaryName, isTemporaryName } from "./temporary-names.ts";

/** Which symbolic links are followed. */
export type SymlinkRule = "within-root" | "never";

export interface Target {
  /** The real location: no part of it is a link. */
  readonly real: string;
  /** The nearest directory above it that exists. */
  readonly directory: string;
  /** Names of the directories below `directory` that are still to be made, outermost first. */
  readonly missing: readonly string[];
  readonly name: string;
}

/** From request paths to real locations on the disk, all of them inside the root. */
export class DiskPaths {
  readonly root: string;
  readonly #inside: string;
  readonly #folded: string;
  readonly #symlinks: SymlinkRule;
  readonly #names: ListedNames;
  /** Folded: a file that is hidden is hidden by all names. */
  readonly #protected = new Set<string>();
  #longestProtected = 0;

  constructor(root: string, symlinks: SymlinkRule) {
    this.root = realRoot(root);
    this.#inside = withSeparator(this.root);
    this.#folded = foldedName(this.root);
    this.#symlinks = symlinks;
    this.#names = new ListedNames(this.root);
  }

  /** The real location of what a request path names; `undefined` where there is nothing, or nothing to be seen. */
  async find(path: string): Promise<string | undefined> {
    const location = this.locationOf(path);
    if (location === undefined || !(await this.#isListed(location))) return undefined;
    try {
      const real = await realpath(location);
      return this.#admits(location, real) ? real : undefined;
    } catch (error) {
      if (meansAbsent(error)) return undefined;
      throw error;
    }
  }

  /** Throws `unavailable` where the root itself is gone: that nothing is found in it says nothing. */
  async requireRoot(): Promise<void> {
    try {
      await lstat(this.root);
    } catch (error) {
      throw meansAbsent(error) ? new StorageError("unavailable", error) : asStorageError(error);
    }
  }

  /**
   * The path by which the disk lists what it finds by this one, which may be spelled otherwise; `undefined` where it
   * lists that by no other spelling. All other methods take a path for what it says.
   */
  async listedPath(path: string): Promise<string | undefined> {
    const location = this.locationOf(path);
    const listed = location === undefined ? undefined : await this.#names.listed(location);
    if (location === undefined || listed === location) return path;
    if (listed === undefined) return undefined;
    const names = listed.slice(this.root.length).split(sep).filter(Boolean);
    return `/${names.join("/")}${path.endsWith("/") ? "/" : ""}`;
  }

  /** Where a path leads if no link is on its way; `undefined` if nothing may be seen, or that is not known. */
  plainLocation(path: string): string | undefined {
    const location = this.locationOf(path);
    if (location === undefined || location === this.root) return undefined;
    return this.#names.isKnown(location) && this.isChangeable(location) ? location : undefined;
  }

  /** Whether something that lies there, not by way of a link, may be changed. */
  isChangeable(location: string): boolean {
    return this.#admits(location, location);
  }

  /**
   * Where a change under a request path is to be made; it need not exist, nor its parents. Throws `forbidden` where a
   * link leads out of the root or nowhere, `not-a-directory` where a file stands in the way, `unavailable` where the
   * root is gone, `invalid-name` for what Windows has no names with.
   */
  async target(path: string): Promise<Target> {
    if (process.platform === "win32" && /[<>"|?*]/.test(path)) throw new StorageError("invalid-name");
    const location = this.locationOf(path);
    if (location === undefined || !(await this.#isListed(location))) throw new StorageError("forbidden");
    const { existing, real, rest } = await nearestExisting(location, this.root);
    if (!this.#admits(existing, real)) throw new StorageError("forbidden");
    const target = targetBelow(real, rest);
    if (!this.#admits(target.real, target.real)) throw new StorageError("forbidden");
    return target;
  }

  async refuses(path: string): Promise<boolean> {
    try {
      await this.target(path);
      return false;
    } catch (error) {
      return error instanceof StorageError && error.code === "forbidden"; // a change will tell what else is wrong
    }
  }

  /** Whether a real location, or what lies in it, is hidden from everyone. */
  isProtected(real: string): boolean {
    if (this.#protected.size === 0) return false;
    const name = foldedName(real);
    for (let end = name.indexOf(sep); end !== -1 && end <= this.#longestProtected; end = name.indexOf(sep, end + 1)) {
      if (this.#protected.has(name.slice(0, end))) return true;
    }
    return this.#protected.has(name);
  }

  /** Hides what has one of these names, folded, as far as this root is concerned. Gives whether that is new. */
  protect(names: readonly string[]): boolean {
    const added = names.filter((name) => !this.#protected.has(name) && this.#concerns(name));
    for (const name of added) {
      this.#protected.add(name);
      this.#longestProtected = Math.max(this.#longestProtected, name.length);
    }
    return added.length > 0;
  }

  #concerns(name: string): boolean {
    const root = this.#folded;
    return name === root || name.startsWith(withSeparator(root)) || root.startsWith(withSeparator(name));
  }

  /** The location that a path names, whatever is there; `undefined` for one that no file may have. */
  locationOf(path: string): string | undefined {
    if (path.includes("\0") || hasTemporaryName(path)) return undefined;
    const location = join(this.root, path);
    const trimmed = location.endsWith(sep) && location !== this.root ? location.slice(0, -1) : location;
    return this.#isInside(trimmed) ? trimmed : undefined;
  }

  async #isListed(location: string): Promise<boolean> {
    return (await this.#names.listed(location)) === location;
  }

  /** The one place that decides whether a real location may be touched for `location`, as it was asked for. */
  #admits(location: string, real: string): boolean {
    if (!this.#isInside(real) || isTemporaryName(basename(real))) return false;
    if (this.#symlinks === "never" && real !== location) return false;
    return !this.isProtected(real) && !this.isProtected(location);
  }

  #isInside(location: string): boolean {
    return location === this.root || location.startsWith(this.#inside);
  }
}

/** "/srv/www" must not admit "/srv/www-old": compare with the separator on. The root "/" has one already. */
function withSeparator(location: string): string {
  return location.endsWith(sep) ? location : location + sep;
}

/** The names of a location, folded, and where it is a link, of what that leads to. It need not exist yet. */
export async function namesToHide(location: string): Promise<readonly string[]> {
  const absolute = resolve(location);
  const parent = await nearestExisting(dirname(absolute), parse(absolute).root);
  const place = join(parent.real, ...parent.rest, basename(absolute));
  return [place, (await ifThere(realpath(place))) ?? place].map(foldedName);
}

/**
 * All links that one leads over, up to the 40 that the system follows, itself first, and in the end `real`, if that is
 * there; empty for what is not a link.
 */
export async function wayOf(location: string, real: string | undefined): Promise<readonly string[]> {
  const way: string[] = [];
  const names = [basename(location)];
  let reached = dirname(location);
  for (let name = names.shift(); name !== undefined && way.length < 40; name = names.shift()) {
    if (join(reached, name, ...names) === real) return [...way, real]; // no more links
    const next = join(reached, name);
    const target = await readlink(next).catch(() => undefined);
    if (target !== undefined) way.push(next);
    if (target !== undefined) names.unshift(...target.split(sep));
    if (target === undefined) reached = next;
    else if (isAbsolute(target)) reached = parse(target).root;
  }
  return way.length > 0 ? [...way, reached] : [];
}

function realRoot(root: string): string {
  const location = root && resolve(root); // the root "" is not the working directory
  const stats = statSync(location, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`root: ${JSON.stringify(root)} does not exist (looked for ${location})`);
  if (!stats.isDirectory()) throw new Error(`root: ${JSON.stringify(root)} is not a directory (${location})`);
  return realpathSync.native(location);
}

/** What exists of a location: as it is spelled, and really; and the names below that do not exist. */
interface Existing {
  readonly existing: string;
  readonly real: string;
  readonly rest: readonly string[];
}

/** Throws `unavailable` where `top` does not exist, and `too-deep` where more is missing than may be made. */
async function nearestExisting(location: string, top: string): Promise<Existing> {
  const names = location.slice(top.length).split(sep).filter(Boolean);
  const above = (missing: number): string => join(top, ...names.slice(0, names.length - missing));
  // A request of 4 KB has room for 2,000 names: to ask about each takes a second.
  const tooMany = maxMissing + 1;
  if (names.length > tooMany && !(await ifThere(realpath(above(tooMany))))) throw new StorageError("too-deep");
  for (let missing = 0; missing <= names.length; missing += 1) {
    const real = await ifThere(realpath(above(missing)));
    if (real === undefined) continue;
    const rest = names.slice(names.length - missing);
    // A link that leads nowhere looks missing, but writing would create what it points at, wherever that is.
    const first = rest[0] === undefined ? undefined : await ifThere(lstat(join(real, rest[0])));
    if (first?.isSymbolicLink()) throw new StorageError("forbidden");
    return { existing: above(missing), real, rest };
  }
  throw new StorageError("unavailable");
}

async function ifThere<T>(looked: Promise<T>): Promise<T | undefined> {
  try {
    return await looked;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function targetBelow(existing: string, names: readonly string[]): Target {
  const target = targetAt(join(existing, ...names));
  return names.length === 0 ? target : { ...target, directory: existing, missing: names.slice(0, -1) };
}

/** A target whose directory exists. */
export function targetAt(real: string): Target {
  return { real, directory: dirname(real), missing: [], name: basename(real) };
}
