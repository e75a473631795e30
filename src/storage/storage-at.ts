import { type Storage, StorageError, type StoredEntry } from "./storage.ts";

/** A storage that appears at a path: at `/archive`, its `/a.txt` is `/archive/a.txt`. Elsewhere there is nothing. */
export function storageAt(at: string, storage: Storage): Storage {
  const below = `${at}/`; // "/archive" must not admit "/archives": compare with the separator on
  const find = (path: string): string | undefined => {
    if (path === at) return "/";
    return path.startsWith(below) ? path.slice(at.length) : undefined;
  };
  const inside = (path: string): string => {
    const found = find(path);
    if (found === undefined) throw new StorageError("forbidden");
    return found;
  };
  async function* list(path: string, after?: StoredEntry): AsyncGenerator<StoredEntry> {
    const found = find(path);
    if (found === undefined) throw new StorageError("not-found");
    yield* storage.list(found, after);
  }
  const { watch } = storage;
  const outside = (path: string): string => (path === "/" ? at : at + path);
  return {
    ...(watch && {
      watch: (watcher) =>
        watch.call(storage, {
          changed: (path, stat, wasThere) => watcher.changed(outside(path), stat, wasThere),
          ignores: (path) => watcher.ignores(outside(path)),
          failed: (error) => watcher.failed(error),
        }),
    }),
    async stat(path) {
      const found = find(path);
      return found === undefined ? undefined : storage.stat(found);
    },
    async listedPath(path) {
      const found = find(path);
      const listed = found === undefined ? path : await (storage.listedPath?.(found) ?? found);
      return found === undefined || listed === undefined
        ? listed
        : at + (found === "/" ? path.slice(at.length) : listed);
    },
    async refuses(path) {
      const found = find(path);
      return found === undefined || ((await storage.refuses?.(found)) ?? false);
    },
    async open(path, purpose) {
      const found = find(path);
      return found === undefined ? undefined : storage.open(found, purpose);
    },
    list,
    listsInOrder: storage.listsInOrder ?? false,
    write: async (path, content, options) => storage.write(inside(path), content, options),
    append: async (path, content, options) => storage.append(inside(path), content, options),
    update: async (path, edit, made) => storage.update(inside(path), edit, made),
    ...(storage.makeDirectory && { makeDirectory: async (path) => storage.makeDirectory?.(inside(path)) }),
    ...(storage.move && { move: async (from, to, checks) => storage.move?.(inside(from), inside(to), checks) }),
    remove: async (path, options) => storage.remove(inside(path), options),
  };
}
