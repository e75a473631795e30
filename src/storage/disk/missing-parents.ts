import { mkdir, rmdir } from "node:fs/promises";
import { basename } from "node:path";
import { StorageError } from "../storage.ts";
import { errnoOf } from "./file-record.ts";
import type { LockedTarget } from "./locked-target.ts";
import type { OpenDirectory } from "./open-directory.ts";

/** How many directories one request may make: each of them costs an inode, a block, and a sync. */
const maxMissing = 32;

/** The directories above a target that were made for it. Each is made, opened and removed by way of the one above. */
export class MissingParents {
  /** The one that the target is to lie in. */
  directory: OpenDirectory;
  /** Those that hold a name that is new, outermost first. */
  readonly #changed: OpenDirectory[];
  readonly #opened: OpenDirectory[] = [];
  readonly #made: { readonly parent: OpenDirectory; readonly name: string }[] = [];

  private constructor(directory: OpenDirectory) {
    this.directory = directory;
    this.#changed = [directory];
  }

  /** Throws `too-deep` where there are too many. */
  static async make({ parent, missing }: Pick<LockedTarget, "parent" | "missing">): Promise<MissingParents> {
    if (missing.length > maxMissing) throw new StorageError("too-deep");
    const parents = new MissingParents(parent);
    try {
      for (const real of missing) await parents.#enter(basename(real));
      return parents;
    } catch (error) {
      await parents.remove();
      await parents.close();
      throw error;
    }
  }

  /** Makes their names, and that of the target, survive a power failure. */
  async sync(): Promise<void> {
    await Promise.all(this.#changed.map((directory) => directory.sync()));
  }

  /** Removes those that were made, as far as nobody has put anything there. Never rejects. */
  async remove(): Promise<void> {
    for (const { parent, name } of this.#made.toReversed()) {
      try {
        await rmdir(parent.at(name));
      } catch {
        return; // someone put a file there, or removed it: no longer ours to tidy
      }
    }
  }

  /** Never rejects. */
  async close(): Promise<void> {
    for (const directory of this.#opened) await directory.close();
  }

  async #enter(name: string): Promise<void> {
    const parent = this.directory;
    if (await makeDirectory(parent.at(name))) this.#made.push({ parent, name });
    this.directory = await openMade(parent, name);
    this.#opened.push(this.directory);
    this.#changed.push(this.directory);
  }
}

/** Whether it had to be made. What another made there meanwhile will do if it is a directory. */
async function makeDirectory(location: string): Promise<boolean> {
  try {
    await mkdir(location);
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return false;
  }
}

/** A link to a directory is not one. */
async function openMade(parent: OpenDirectory, name: string): Promise<OpenDirectory> {
  try {
    return await parent.openBelow(name);
  } catch (error) {
    const isLink = error instanceof StorageError && error.code === "conflict";
    if (isLink || errnoOf(error) === "ENOTDIR") throw new StorageError("not-a-directory", error);
    throw error;
  }
}
