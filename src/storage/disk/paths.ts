import { realpathSync, statSync } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, parse, resolve, sep } from "node:path";
import { maxMissing, StorageError } from "../storage.ts";
import { errnoOf, meansAbsent } from "./file-record.ts";
import { foldedName, ListedNames } from "./listed-names.ts";
import { hasTemporaryName, isTemporaryName } from "./temporary-file.ts";

/** Which symbolic links are followed. */
export type SymlinkRule = "within-root" | "never";

/** Where a change is to be made. */
export interface Target {
  /** The real location: no part of it is a link. */
  readonly real: string;
  /** Whether something is there. */
  readonly exists: boolean;
  /** The nearest directory above it that exists. */
  readonly directory: string;
  /** The directories between `directory` and the target, outermost first, that are still to be made. */
  readonly missing: readonly string[];
}

/** From request paths to real locations on the disk, none of which lies outside the root. */
export class DiskPaths {
  /** Real location of the root. */
  readonly root: string;
  readonly #inside: string;
  readonly #symlinks: SymlinkRule;
  readonly #names: ListedNames;
  /** Folded: a file that is hidden is hidden by all names. */
  readonly #protected = new Set<string>();
  #longestProtected = 0;

  /** Throws where `root` is not a directory. */
  constructor(root: string, symlinks: SymlinkRule) {
    this.root = realRoot(root);
    // "/srv/www" must not admit "/srv/www-old": compare with the separator on. The root "/" has one already.
    this.#inside = this.root.endsWith(sep) ? this.root : this.root + sep;
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
      throw meansAbsent(error) ? new StorageError("unavailable", error) : error;
    }
  }

  /**
   * The path by which the disk lists what it finds by this one, which may be spelled otherwise; `undefined` where it lists that by no
   * other spelling. All other methods take a path for what it says.
   */
  listedPath(path: string): string | Promise<string | undefined> {
    const location = this.locationOf(path);
    return location === undefined || this.#names.isKnown(location) ? path : this.#askListed(path, location);
  }

  /** Where a path below the root leads if no link is on its way; `undefined` where nothing may be seen, or that is not known. */
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
   * link leads out of the root or nowhere, `not-a-directory` where a file stands in the way, `unavailable` where the root
   * is gone, `invalid-name` for what Windows has no names with.
   */
  async target(path: string): Promise<Target> {
    if (process.platform === "win32" && /[<>"|?*]/.test(path)) throw new StorageError("invalid-name");
    const location = this.locationOf(path);
    if (location === undefined || !(await this.#isListed(location))) throw new StorageError("forbidden");
    const { real, rest } = await nearestExisting(location, this.root);
    if (!this.#admits(location.slice(0, location.length - rest.length), real)) throw new StorageError("forbidden");
    const target = targetBelow(real, rest);
    if (!this.#admits(target.real, target.real)) throw new StorageError("forbidden");
    return target;
  }

  /** Whether {@link target} refuses a path. */
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

  /** Hides a location, and where it is a link, what that leads to. It need not exist yet. */
  async protect(location: string): Promise<void> {
    const absolute = resolve(location);
    const parent = await nearestExisting(dirname(absolute), parse(absolute).root);
    const place = join(parent.real, parent.rest, basename(absolute));
    for (const each of [place, (await realpathIfThere(place)) ?? place]) {
      const name = foldedName(each);
      this.#protected.add(name);
      this.#longestProtected = Math.max(this.#longestProtected, name.length);
    }
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

  async #askListed(path: string, location: string): Promise<string | undefined> {
    const listed = await this.#names.listed(location);
    if (listed === undefined || listed === location) return listed && path;
    const names = listed.slice(this.root.length).split(sep).filter(Boolean);
    return `/${names.join("/")}${path.endsWith("/") ? "/" : ""}`;
  }

  /** The one place that decides whether a real location may be touched for the sake of `location`, as it was asked for. */
  #admits(location: string, real: string): boolean {
    if (!this.#isInside(real) || isTemporaryName(basename(real))) return false;
    if (this.#symlinks === "never" && real !== location) return false;
    return !this.isProtected(real) && !this.isProtected(location);
  }

  #isInside(location: string): boolean {
    return location === this.root || location.startsWith(this.#inside);
  }
}

function realRoot(root: string): string {
  const location = resolve(root);
  const stats = statSync(location, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(`root: ${JSON.stringify(root)} does not exist (looked for ${location})`);
  if (!stats.isDirectory()) throw new Error(`root: ${JSON.stringify(root)} is not a directory (${location})`);
  return realpathSync.native(location);
}

/**
 * What exists of `location`: its real location, and the rest of the path below it. Looks from the top down in steps that double, then
 * between them: to ask about each of 2,000 names took a second for a request of 4 KB. Throws `unavailable` where `top` does not exist.
 */
async function nearestExisting(location: string, top: string): Promise<{ real: string; rest: string }> {
  const ends = [top.length]; // where the names end
  for (let end = top.length; end < location.length; ends.push(end)) {
    const next = location.indexOf(sep, end + 1);
    end = next === -1 ? location.length : next;
  }
  let existing = 0;
  let missing = ends.length;
  let step = 1;
  for (
    let probed = missing - 1;
    existing + 1 < missing;
    probed = Math.min(existing + step, (existing + missing) >> 1)
  ) {
    if (await exists(location.slice(0, ends[probed]))) {
      existing = probed;
      step *= 2;
    } else missing = probed;
  }
  const real = await realpathIfThere(location.slice(0, ends[existing]));
  if (real === undefined && existing > 0) return nearestExisting(location, top); // it was removed meanwhile
  if (real === undefined) throw new StorageError("unavailable");
  const rest = location.slice(ends[existing]);
  const firstMissing = rest.split(sep, 2).find((name) => name !== "");
  // A link that leads nowhere looks missing, but writing would create what it points at, wherever that is.
  if (firstMissing !== undefined && (await isLink(join(real, firstMissing)))) throw new StorageError("forbidden");
  return { real, rest };
}

async function exists(location: string): Promise<boolean> {
  try {
    await stat(location);
    return true;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function realpathIfThere(location: string): Promise<string | undefined> {
  try {
    return await realpath(location);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function isLink(location: string): Promise<boolean> {
  try {
    return (await lstat(location)).isSymbolicLink();
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
}

function targetBelow(existing: string, rest: string): Target {
  const names = rest.split(sep).filter((name) => name !== "");
  if (names.length === 0) return { real: existing, exists: true, directory: dirname(existing), missing: [] };
  const made = names.slice(0, -1).slice(0, maxMissing + 1); // one more than may be made says as much as all of them
  const missing = made.map((_, index) => join(existing, ...names.slice(0, index + 1)));
  return { real: join(existing, ...names), exists: false, directory: existing, missing };
}
