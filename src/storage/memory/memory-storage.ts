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
import { isDirectory, MemoryTree, namesOf } from "./memory-tree.ts";

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
      const file = found && !isDirectory(found) ? found : undefined;
      const draft = new Draft(file?.stat, async () => file?.content ?? new Uint8Array());
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
      return found === undefined || isDirectory(found) ? undefined : new BytesFile(found.stat, found.content);
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
      locks.run(`/${namesOf(path).join("/")}`, async () => {
        const found = tree.find(path);
        if (found === undefined) throw new StorageError("not-found");
        if (namesOf(path).length > 0) options.check?.(found.stat);
        tree.remove(path);
        if (!isDirectory(found)) announce(path, undefined, true);
      }),
    async makeDirectory(path) {
      const plain = `/${namesOf(path).join("/")}`;
      if (tree.find(plain)) throw new StorageError("exists");
      if (tree.missingAbove(plain) > 0) throw new StorageError("no-parent");
      tree.makeDirectory(namesOf(path));
    },
    async watch(watcher) {
      const watch = { watcher }; // one watcher may watch twice
      watches.add(watch);
      return async () => void watches.delete(watch);
    },
  };
}

function plant(tree: MemoryTree, path: string, content: string | Uint8Array): void {
  const names = namesOf(path);
  const isCanonical = path === `/${names.join("/")}${path.endsWith("/") && names.length > 0 ? "/" : ""}`;
  if (!isCanonical || names.includes(".") || names.includes("..")) {
    throw new Error(`files: ${JSON.stringify(path)} is not a path like "/page.html" or "/directory/page.html"`);
  }
  try {
    if (path.endsWith("/") && content.length === 0) tree.makeDirectory(names);
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
  if (found === undefined || !isDirectory(found)) throw new StorageError("not-found");
  for (const name of [...found.children.keys()]) {
    const child = found.children.get(name);
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
