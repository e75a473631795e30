import { randomBytes } from "node:crypto";
import { withoutSlash } from "../../http/request-target.ts";
import { BytesFile } from "../bytes-file.ts";
import { PathLock } from "../locks.ts";
import {
  type Content,
  maxMissing,
  type Storage,
  StorageError,
  type StorageWatcher,
  type StoredEntry,
  type StoredStat,
  type WriteOptions,
} from "../storage.ts";
import { Draft, WaitingChanges } from "../waiting-changes.ts";

interface MemoryDirectory {
  stat: StoredStat;
  readonly names: Set<string>;
}

/**
 * Keeps files in memory: for tests, and for content that a program makes up. `files` maps paths to text or bytes; a
 * path that ends in `/`, with `""`, is an empty directory. Throws where a path does not begin with `/`, is not
 * canonical, or contradicts another.
 *
 * @example
 * const files = createFileServer({ storage: memoryStorage({ "/index.html": "<p>hello" }) });
 */
export function memoryStorage(files: Readonly<Record<string, string | Uint8Array>> = {}): Storage {
  const tree = new MemoryTree();
  for (const [path, content] of Object.entries(files)) plant(tree, path, content);
  const locks = new PathLock();
  const watches = new Set<{ readonly watcher: StorageWatcher }>();

  /** Tells of a change, unless another has followed by then, once its maker has had the result. */
  const announce = (path: string, stat: StoredStat | undefined, wasThere: boolean): void => {
    const tell = async (): Promise<void> => {
      if (tree.find(path)?.stat !== stat) return;
      for (const { watcher } of watches) if (!watcher.ignores(path)) watcher.changed(path, stat, wasThere);
    };
    if (watches.size > 0) setImmediate(() => void locks.run(path, tell));
  };
  const put = (path: string, content: Uint8Array): StoredStat => {
    const wasThere = tree.find(path) !== undefined;
    const stat = tree.put(path, content);
    announce(path, stat, wasThere);
    return stat;
  };

  const changes = new WaitingChanges((path, group) =>
    locks.run(path, async () => {
      const found = tree.find(path);
      const file = found instanceof BytesFile ? found : undefined;
      const draft = new Draft(file?.stat, async () => (await file?.bytes()) ?? new Uint8Array());
      await group.apply(draft);
      await group.done(draft.outcome && put(path, await draft.bytes()));
    }),
  );

  return {
    async stat(path) {
      return tree.find(path)?.stat;
    },
    async open(path) {
      const found = tree.find(path);
      return found instanceof BytesFile ? found : undefined;
    },
    list: (path) => list(tree, path),
    async write(path, content, options = {}) {
      replaceable(tree, path, options, tree.find(path) !== undefined);
      const bytes = await received(content);
      return changes.run(path, (draft) => {
        replaceable(tree, path, options, draft.stat !== undefined);
        options.check?.(draft.stat);
        draft.replace(bytes);
      });
    },
    async append(path, content, options = {}) {
      tree.file(path);
      const added = await received(content);
      return changes.run(path, (draft) => {
        if (!draft.outcome) tree.file(path);
        options.check?.(draft.stat);
        if (added.length > 0) draft.append(added);
      });
    },
    update: (path, edit, made) =>
      changes.run(path, async (draft) => {
        const { stat = tree.file(path).stat } = draft;
        const edited = await edit(async () => copyOf(await draft.bytes()), stat);
        if (!edited) return;
        const after = draft.replace(copyOf(edited));
        made?.(after);
      }),
    remove: (path, options = {}) =>
      locks.run(withoutSlash(path), async () => {
        const found = tree.find(path);
        if (found === undefined) throw new StorageError("not-found");
        if (path !== "/") options.check?.(found.stat);
        tree.remove(path);
        if (found instanceof BytesFile) announce(path, undefined, true);
      }),
    async makeDirectory(path) {
      const plain = withoutSlash(path);
      if (tree.find(plain)) throw new StorageError("exists");
      if (tree.missingAbove(plain) > 0) throw new StorageError("no-parent");
      tree.makeDirectory(plain);
    },
    async watch(watcher) {
      const watch = { watcher }; // one watcher may watch twice
      watches.add(watch);
      return async () => void watches.delete(watch);
    },
  };
}

function plant(tree: MemoryTree, path: string, content: string | Uint8Array): void {
  if (!path.startsWith("/") || path.includes("//") || /\/\.\.?(\/|$)/.test(path)) {
    throw new Error(`files: ${JSON.stringify(path)} is not a path like "/page.html" or "/directory/page.html"`);
  }
  try {
    if (path.endsWith("/") && content.length === 0) tree.makeDirectory(withoutSlash(path));
    else tree.put(path, typeof content === "string" ? Buffer.from(content) : copyOf(content));
  } catch (cause) {
    throw new Error(`files: ${JSON.stringify(path)} cannot be both a file and a directory`, { cause });
  }
}

function replaceable(tree: MemoryTree, path: string, options: WriteOptions, isThere: boolean): void {
  const { createParents = true, exclusive = false } = options;
  const missing = tree.missingAbove(path);
  if (exclusive && isThere) throw new StorageError("exists");
  if (!createParents && missing > 0) throw new StorageError("no-parent");
  if (missing > maxMissing) throw new StorageError("too-deep");
}

async function* list(tree: MemoryTree, path: string): AsyncGenerator<StoredEntry, void, undefined> {
  const found = tree.find(path);
  if (found === undefined || found instanceof BytesFile) throw new StorageError("not-found");
  for (const name of [...found.names]) {
    const child = tree.find(`${withoutSlash(path)}/${name}`);
    if (child !== undefined) yield { name, type: child.stat.type };
  }
}

async function received(content: Content): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(copyOf(piece));
  return Buffer.concat(pieces);
}

/** Not `slice()`, which for a Buffer is a view of the same bytes. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

/**
 * Files and directories by path. The content of a file is never changed, only replaced, so that each reader reads one
 * version. All methods do their work at once, whole or not at all.
 */
class MemoryTree {
  /** Tags of an earlier run of the program must not match files of this one. */
  readonly #run = randomBytes(6).toString("base64url");
  #changes = 0;
  /** By path, without a slash at the end. */
  readonly #nodes = new Map<string, BytesFile | MemoryDirectory>([["", this.#newDirectory()]]);

  /** What a path names; `undefined` for nothing, and for a file under a path that ends in `/`. */
  find(path: string): BytesFile | MemoryDirectory | undefined {
    const found = this.#nodes.get(withoutSlash(path));
    return found instanceof BytesFile && path.endsWith("/") ? undefined : found;
  }

  /** How many directories above a file of that path are not there; throws where something else stands in the way. */
  missingAbove(path: string): number {
    const there = this.#nodes.get(path);
    const isFile = there === undefined || there instanceof BytesFile;
    if (path.endsWith("/") || !isFile) throw new StorageError("is-directory");
    let missing = 0;
    for (let above = directoryOf(path); ; above = directoryOf(above)) {
      const found = this.#nodes.get(above);
      if (found instanceof BytesFile) throw new StorageError("not-a-directory");
      if (found) return missing;
      missing += 1;
    }
  }

  file(path: string): BytesFile {
    const found = this.find(path);
    if (found instanceof BytesFile) return found;
    this.missingAbove(path);
    throw new StorageError("not-found");
  }

  /** Makes or replaces a file, and makes the directories above it. `content` is kept, not copied. */
  put(path: string, content: Uint8Array): StoredStat {
    this.missingAbove(path);
    const stat = this.#newStat("file", content.length);
    this.#add(path, new BytesFile(stat, content));
    return stat;
  }

  /** Takes a path without a slash at the end. */
  makeDirectory(path: string): MemoryDirectory {
    const found = this.#nodes.get(path);
    if (found instanceof BytesFile) throw new StorageError("not-a-directory");
    if (found) return found;
    const made = this.#newDirectory();
    this.#add(path, made);
    return made;
  }

  remove(path: string): void {
    const plain = withoutSlash(path);
    const found = this.#nodes.get(plain);
    if (plain === "") throw new StorageError("forbidden");
    if (found && !(found instanceof BytesFile) && found.names.size > 0) throw new StorageError("not-empty");
    const parent = this.makeDirectory(directoryOf(plain));
    this.#nodes.delete(plain);
    parent.names.delete(nameOf(plain));
    parent.stat = this.#newStat("directory", 0);
  }

  #add(path: string, node: BytesFile | MemoryDirectory): void {
    const parent = this.makeDirectory(directoryOf(path));
    if (!parent.names.has(nameOf(path))) parent.stat = this.#newStat("directory", 0);
    parent.names.add(nameOf(path));
    this.#nodes.set(path, node);
  }

  #newDirectory(): MemoryDirectory {
    return { stat: this.#newStat("directory", 0), names: new Set() };
  }

  #newStat(type: StoredStat["type"], size: number): StoredStat {
    this.#changes += 1;
    return { type, size, modified: new Date(), version: `${this.#run}-${this.#changes}` };
  }
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
