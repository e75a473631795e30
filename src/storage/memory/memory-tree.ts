import { randomBytes } from "node:crypto";
import { StorageError, type StoredStat } from "../storage.ts";

/** A file in memory. Its content is never changed, only replaced, so that each reader reads one version. */
export interface MemoryFile {
  readonly stat: StoredStat;
  readonly content: Uint8Array;
}

/** A directory in memory. */
export interface MemoryDirectory {
  stat: StoredStat;
  readonly children: Map<string, MemoryFile | MemoryDirectory>;
}

/** Files and directories by path. All of its methods do their work at once, whole or not at all. */
export class MemoryTree {
  /** Tags of an earlier run of the program must not match files of this one. */
  readonly #run = randomBytes(6).toString("base64url");
  #changes = 0;
  readonly #root: MemoryDirectory = this.#newDirectory();

  /** What a path names; `undefined` for nothing, and for a file under a path that ends in `/`. */
  find(path: string): MemoryFile | MemoryDirectory | undefined {
    let found: MemoryFile | MemoryDirectory | undefined = this.#root;
    for (const name of namesOf(path)) {
      if (found === undefined || !isDirectory(found)) return undefined;
      found = found.children.get(name);
    }
    return found !== undefined && !isDirectory(found) && path.endsWith("/") ? undefined : found;
  }

  /** How many directories above a file of that path are not there; throws where something else stands in the way. */
  missingAbove(path: string): number {
    if (path.endsWith("/")) throw new StorageError("is-directory");
    const names = namesOf(path);
    const name = names.pop();
    let parent = this.#root;
    for (const [depth, parentName] of names.entries()) {
      const child = parent.children.get(parentName);
      if (child === undefined) return names.length - depth;
      if (!isDirectory(child)) throw new StorageError("not-a-directory");
      parent = child;
    }
    const there = name === undefined ? parent : parent.children.get(name);
    if (there !== undefined && isDirectory(there)) throw new StorageError("is-directory");
    return 0;
  }

  file(path: string): MemoryFile {
    const found = this.find(path);
    if (found && !isDirectory(found)) return found;
    this.missingAbove(path);
    throw new StorageError("not-found");
  }

  /** Makes or replaces a file, and makes the directories above it. `content` is kept, not copied. */
  put(path: string, content: Uint8Array): StoredStat {
    this.missingAbove(path);
    const names = namesOf(path);
    const name = names.pop() ?? "";
    const parent = this.makeDirectory(names);
    const stat = this.#newStat("file", content.length);
    if (!parent.children.has(name)) this.#touch(parent);
    parent.children.set(name, { stat, content });
    return stat;
  }

  makeDirectory(names: readonly string[]): MemoryDirectory {
    let directory = this.#root;
    for (const name of names) {
      let child = directory.children.get(name);
      if (child === undefined) {
        child = this.#newDirectory();
        directory.children.set(name, child);
        this.#touch(directory);
      }
      if (!isDirectory(child)) throw new StorageError("not-a-directory");
      directory = child;
    }
    return directory;
  }

  remove(path: string): void {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw new StorageError("forbidden");
    const parent = this.makeDirectory(names);
    const found = parent.children.get(name);
    if (found !== undefined && isDirectory(found) && found.children.size > 0) throw new StorageError("not-empty");
    parent.children.delete(name);
    this.#touch(parent);
  }

  #touch(directory: MemoryDirectory): void {
    directory.stat = this.#newStat("directory", 0);
  }

  #newDirectory(): MemoryDirectory {
    return { stat: this.#newStat("directory", 0), children: new Map() };
  }

  #newStat(type: StoredStat["type"], size: number): StoredStat {
    this.#changes += 1;
    return { type, size, modified: new Date(), version: `${this.#run}-${this.#changes}` };
  }
}

/** Whether a node of the tree is a directory. */
export function isDirectory(node: MemoryFile | MemoryDirectory): node is MemoryDirectory {
  return "children" in node;
}

/** The names in a path, from the root down. */
export function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "");
}
