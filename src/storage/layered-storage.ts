import { type DiskStorageOptions, diskStorage } from "./disk/disk-storage.ts";
import { isBucketUrl } from "./s3/bucket-url.ts";
import {
  type OpenFile,
  type OpenFor,
  type Storage,
  StorageError,
  type StorageWatcher,
  type StoredEntry,
  type StoredStat,
  type Unwatch,
} from "./storage.ts";

/** Names of a later storage that are looked up together in those before it. */
const batchSize = 32;

/** What a host serves: a directory of the disk, or several directories and storages in order. */
export type Root = string | URL | readonly (string | URL | Storage)[];

/** The storage of one root, or of several in order. Throws where one of them is no directory. */
export function storageOfRoots(root: Root, options?: DiskStorageOptions): Storage {
  const [first = diskStorage("", options), ...others] = [root].flat().map((each) => {
    if (typeof each !== "string" && !(each instanceof URL)) return each;
    if (each instanceof URL || !isBucketUrl(each)) return diskStorage(each, options);
    throw new Error("root is a bucket: expected a directory; in code, a bucket is a storage: s3Storage of filement/s3");
  });
  return others.length === 0 ? first : layeredStorage([first, ...others]);
}

/**
 * Several storages as one: at each path there is what the first has that has anything there, and directories have the names
 * of all. Only the first is ever written to; what a later one has at a path can be read, and neither replaced nor removed.
 */
export function layeredStorage(storages: readonly [Storage, ...Storage[]]): Storage {
  const [first, ...later] = storages;

  async function statIn(some: readonly Storage[], path: string): Promise<StoredStat | undefined> {
    for (const storage of some) {
      const stat = await storage.stat(path);
      if (stat) return stat;
    }
    return undefined;
  }

  /** Throws for a path whose change a client would not see, or whose file would come back after its removal. */
  async function refuseLater(path: string): Promise<void> {
    for (const storage of later) {
      if ((await storage.stat(path)) || (await storage.refuses?.(path))) throw new StorageError("forbidden");
    }
  }

  /** A file of the first storage may change whatever is below it. */
  async function requireFirst(path: string): Promise<void> {
    if (!(await first.stat(path))) await refuseLater(path);
  }

  /** Throws for a path above which a later storage has a file: a directory in its place would hide it. */
  async function requireParents(path: string): Promise<void> {
    for (
      let parent = parentOf(path);
      parent !== "/" && !(await first.stat(parent));
      parent = parentOf(parent.slice(0, -1))
    ) {
      const place = await statIn(later, parent.slice(0, -1));
      if (place?.type === "file") throw new StorageError("not-a-directory");
    }
  }

  async function open(path: string, purpose?: OpenFor): Promise<OpenFile | undefined> {
    for (const storage of storages) {
      const file = await storage.open(path, purpose);
      if (file || (await storage.stat(path))) return file; // a directory hides the files below it
    }
    return undefined;
  }

  async function* list(path: string): AsyncGenerator<StoredEntry> {
    let isThere = false;
    for (const [i, storage] of storages.entries()) {
      if ((await storage.stat(path))?.type !== "directory") continue;
      isThere = true;
      const above = storages.slice(0, i);
      for await (const batch of batchesOf(storage.list(path))) {
        const isHidden = await Promise.all(batch.map(({ name }) => statIn(above, below(path, name))));
        yield* batch.filter((_entry, j) => !isHidden[j]);
      }
    }
    if (!isThere) throw new StorageError("not-found");
  }

  async function watch(watcher: StorageWatcher): Promise<Unwatch> {
    let isOver = false;
    const listener: StorageWatcher = {
      changed: (path, stat, wasThere) => isOver || watcher.changed(path, stat, wasThere),
      ignores: (path) => watcher.ignores(path),
      failed: (error) => isOver || watcher.failed(error),
    };
    const unwatches = await Promise.all(storages.map((storage, i) => storage.watch?.(layerWatcher(listener, i))));
    return async () => {
      isOver = true;
      await Promise.all(unwatches.map((unwatch) => unwatch?.()));
    };
  }

  /** Tells of what can be seen: a file of another storage may hide the change, or come to light by it. */
  function layerWatcher(watcher: StorageWatcher, i: number): StorageWatcher {
    const [above, under] = [storages.slice(0, i), storages.slice(i + 1)];
    const tell = async (path: string, stat: StoredStat | undefined, wasThere: boolean): Promise<void> => {
      if (above.length > 0 && (await statIn(above, path))) return;
      watcher.changed(path, stat, wasThere);
      if (stat) return;
      const next = await statIn(under, path);
      if (next?.type === "file") watcher.changed(path, next, false);
    };
    return {
      changed: (path, stat, wasThere) => void tell(path, stat, wasThere).catch((error) => watcher.failed(error)),
      ignores: (path) => watcher.ignores(path),
      failed: (error) => watcher.failed(error),
    };
  }

  return {
    async start(report, warn, isWritten = true) {
      for (const storage of storages) await storage.start?.(report, warn, isWritten && storage === first);
    },
    stat: (path) => statIn(storages, path),
    async listedPath(path) {
      const listed = await Promise.all(storages.map((storage) => storage.listedPath?.(path) ?? path));
      if (listed.every((each) => each === path)) return path;
      for (const [i, storage] of storages.entries())
        if (listed[i] !== path || (await storage.stat(path))) return listed[i];
      return path;
    },
    open,
    list,
    async write(path, content, options = {}) {
      await requireFirst(path);
      await requireParents(path);
      // Its directory may be one of a later storage.
      const createParents = options.createParents ?? true;
      const hasParent = createParents || (await statIn(storages, parentOf(path)))?.type === "directory";
      return first.write(path, content, { ...options, createParents: hasParent });
    },
    async append(path, content, options) {
      await requireFirst(path);
      return first.append(path, content, options);
    },
    async update(path, edit, made) {
      await requireFirst(path);
      return first.update(path, edit, made);
    },
    async remove(path, options) {
      await refuseLater(path);
      return first.remove(path, options);
    },
    ...(first.makeDirectory && {
      async makeDirectory(path) {
        if (await statIn(storages, path)) throw new StorageError("exists");
        await refuseLater(path);
        await requireParents(path);
        await first.makeDirectory?.(path);
      },
    }),
    async check() {
      await first.check?.();
      for (const storage of later) await storage.stat("/"); // throws where the storage is away; it is never written to
    },
    async protect(location) {
      for (const storage of storages) await storage.protect?.(location);
    },
    async refuses(path) {
      for (const storage of storages) if (await storage.refuses?.(path)) return true;
      return !(await first.stat(path)) && (await statIn(later, path))?.type === "file";
    },
    ...(storages.every((storage) => storage.watch) && { watch }),
    ...(storages.some((storage) => storage.observe) && {
      observe(observer) {
        const ends = storages.map((storage) => storage.observe?.(observer));
        return () => {
          for (const end of ends) end?.();
        };
      },
    }),
    async close() {
      for (const storage of storages) await storage.close?.();
    },
  };
}

async function* batchesOf(entries: AsyncIterable<StoredEntry>): AsyncGenerator<readonly StoredEntry[]> {
  let batch: StoredEntry[] = [];
  for await (const entry of entries) {
    batch.push(entry);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

function below(directory: string, name: string): string {
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}
