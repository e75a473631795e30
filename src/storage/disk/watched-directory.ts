import type { FSWatcher } from "node:fs";
import { join, sep } from "node:path";

/** How many links to directories may lie on one path: a few that lead across would multiply the tree without end. */
const maxLinks = 2;

/** A directory and what is known to be in it. Those below the root are found by their paths, links included. */
export class WatchedDirectory {
  readonly name: string;
  readonly parent: WatchedDirectory | undefined;
  readonly files: Map<string, string> = new Map();
  readonly directories: Map<string, WatchedDirectory> = new Map();
  real = "";
  /** `undefined` if the directory is gone, or could not be watched. */
  watcher: FSWatcher | undefined;

  constructor(name: string, parent: WatchedDirectory | undefined) {
    this.name = name;
    this.parent = parent;
  }

  /** Canonical path, without a slash at the end but for the root. */
  get path(): string {
    return this.parent ? this.parent.pathOf(this.name) : "/";
  }

  pathOf(name: string): string {
    return this.parent ? `${this.path}/${name}` : `/${name}`;
  }

  find(path: string): WatchedDirectory | undefined {
    let found: WatchedDirectory | undefined = this;
    for (const name of path.split("/")) if (name !== "") found = found?.directories.get(name);
    return found;
  }

  /**
   * Whether a directory of that name that really lies at `real` is to be watched. Not so where a link leads back to a
   * directory on its own path, or above: there would be no end to that.
   */
  mayHold(name: string, real: string): boolean {
    return real === join(this.real, name) || (!this.#liesBelow(real) && this.#linksOnPath() < maxLinks);
  }

  /** Forgets it, and those above it, if they are empty and no longer watched. */
  prune(): void {
    if (this.watcher || !this.parent || this.files.size + this.directories.size > 0) return;
    this.parent.directories.delete(this.name);
    this.parent.prune();
  }

  close(): void {
    this.watcher?.close();
    this.watcher = undefined;
    for (const directory of this.directories.values()) directory.close();
  }

  #liesBelow(real: string): boolean {
    if (join(this.real, sep).startsWith(join(real, sep))) return true;
    return this.parent ? this.parent.#liesBelow(real) : false;
  }

  #linksOnPath(): number {
    if (!this.parent) return 0;
    return this.parent.#linksOnPath() + (this.real === join(this.parent.real, this.name) ? 0 : 1);
  }
}
