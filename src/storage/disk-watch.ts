import { type Dirent, type FSWatcher, watch as watchDirectory } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ChangeWitness, type Disk, diskLocks } from "./disk.ts";
import { errnoOf, meansAbsent } from "./disk-errors.ts";
import { unaddressable } from "./disk-list.ts";
import { FileLinks } from "./file-links.ts";
import { measure } from "./pending-appends.ts";
import { QuietPaths } from "./quiet-paths.ts";
import type { StorageWatcher, StoredStat, Unwatch } from "./storage.ts";
import { isTemporaryName } from "./temporary-file.ts";
import { WatchedDirectory } from "./watched-directory.ts";

/** How many entries of a directory are looked at together. */
const batchSize = 32;

/**
 * The kernel keeps 16,384 events for a process (`fs.inotify.max_queued_events`), throws away what comes on top, and nobody
 * is told. So many at once mean that some may be missing: everything is looked through then.
 */
const maxEventsAtOnce = 4096;

/** How long until someone looks whether a root that was removed is there again, in milliseconds. */
const rootAbsentMs = 1000;

/** The system has no more watches, or no more descriptors. */
const exhausted: ReadonlySet<string> = new Set(["ENOSPC", "EMFILE", "ENFILE", "ENOMEM"]);

/** What this user may not look at, nobody sees through the storage either. */
const refused: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** Watches all directories of a disk storage; see {@link Storage.watch}. */
export async function watch(disk: Disk, watcher: StorageWatcher, witnesses: Set<ChangeWitness>): Promise<Unwatch> {
  const watched = new DiskWatch(disk, watcher);
  await watched.start();
  witnesses.add(watched);
  return async () => {
    witnesses.delete(watched);
    await watched.close();
  };
}

/**
 * One watch for each directory, set up before the directory is read, so that nothing falls between the two. What the
 * system reports only says where to look: what is there, under the lock that changes through the storage hold, too, is
 * compared with what was there before.
 */
class DiskWatch implements ChangeWitness {
  readonly #disk: Disk;
  readonly #watcher: StorageWatcher;
  readonly #root = new WatchedDirectory("", undefined);
  readonly #links = new FileLinks();
  readonly #paths = new QuietPaths((path) => this.#examine(path));
  #state: "starting" | "watching" | "closed" = "starting";
  #eventsAtOnce = 0;
  #isExhaustionTold = false;
  #rootTimer: NodeJS.Timeout | undefined;

  constructor(disk: Disk, watcher: StorageWatcher) {
    this.#disk = disk;
    this.#watcher = watcher;
  }

  /** Takes note of all that is there. */
  async start(): Promise<void> {
    this.#paths.addNow("/");
    await this.#paths.settle();
    this.#state = "watching";
  }

  async beforeChange(path: string): Promise<void> {
    await this.#guarded(() => this.#look(path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path));
  }

  async close(): Promise<void> {
    this.#state = "closed";
    clearTimeout(this.#rootTimer);
    this.#root.close();
    await this.#paths.close();
    this.#root.close(); // what was under way may have opened another
  }

  /** Finds out what became of a path. */
  #examine(path: string): Promise<void> {
    return this.#guarded(async () => {
      const lock = await this.#lockOf(path);
      const look = (): Promise<boolean> => this.#look(path);
      const isDirectory = await (lock === undefined ? look() : diskLocks.run(lock, look));
      if (isDirectory) await this.#enter(path);
    });
  }

  async #guarded(task: () => Promise<unknown>): Promise<void> {
    try {
      await task();
    } catch (error) {
      if (!refused.has(errnoOf(error))) this.#watcher.failed(error);
    }
  }

  /** The lock that changes of the path through the storage hold; there can be none where it cannot be changed. */
  async #lockOf(path: string): Promise<string | undefined> {
    try {
      return (await this.#disk.paths.target(path)).real;
    } catch {
      return undefined; // the look that follows says why
    }
  }

  /** Compares what is at a path with what was, and tells of a file that differs. Whether it is a directory. */
  async #look(path: string): Promise<boolean> {
    const slash = path.lastIndexOf("/");
    const name = path.slice(slash + 1);
    const holder = path === "/" ? undefined : this.#root.find(path.slice(0, slash));
    if (path !== "/" && (!holder || this.#isLeftOut(path, name))) return false;

    const real = await this.#disk.paths.find(path);
    const stat = real === undefined ? undefined : await statAt(real);
    if (this.#state === "closed") return false;
    const isDirectory = stat?.type === "directory";
    if (!isDirectory) this.#leave(path);
    if (holder) this.#compare(holder, name, isDirectory ? undefined : real, isDirectory ? undefined : stat);
    else if (!isDirectory) this.#awaitRoot();
    return isDirectory;
  }

  #compare(holder: WatchedDirectory, name: string, real: string | undefined, stat: StoredStat | undefined): void {
    const before = holder.files.get(name);
    const location = join(holder.real, name);
    if (stat) holder.files.set(name, stat.version);
    else holder.files.delete(name);
    // Protected since: that it is hidden now is no change, and its name is not for everyone.
    if (this.#disk.paths.isProtected(location)) return;
    const path = holder.pathOf(name);
    this.#links.note(path, location, real);
    if (stat?.version !== before || !stat) this.#tell(path, stat, before !== undefined);
    if (!stat) holder.prune();
  }

  #tell(path: string, stat: StoredStat | undefined, wasThere: boolean): void {
    if (this.#state === "watching") this.#watcher.changed(path, stat, wasThere);
  }

  /** A directory is no longer there, or no longer one: what was in it is looked at in turn, and will be found gone. */
  #leave(path: string): void {
    const directory = this.#root.find(path);
    if (!directory) return;
    directory.watcher?.close();
    directory.watcher = undefined;
    for (const name of directory.files.keys()) this.#paths.addNow(directory.pathOf(name));
    for (const name of directory.directories.keys()) this.#paths.addNow(directory.pathOf(name));
    directory.prune();
  }

  /** Watches a directory, anew even if it was watched: it may be another one of the same name. Then goes through it. */
  async #enter(path: string): Promise<void> {
    const slash = path.lastIndexOf("/");
    const parent = path === "/" ? undefined : this.#root.find(path.slice(0, slash));
    const name = path.slice(slash + 1);
    const real = await this.#disk.paths.find(path);
    if (real === undefined || this.#state === "closed") return;
    if (parent && !parent.mayHold(name, real)) return;
    const directory = this.#root.find(path) ?? new WatchedDirectory(name, parent);
    parent?.directories.set(name, directory);
    directory.real = real;
    const before = directory.watcher;
    directory.watcher = this.#watch(directory);
    before?.close();
    await this.#readThrough(directory);
  }

  #watch(directory: WatchedDirectory): FSWatcher | undefined {
    try {
      const watcher = watchDirectory(directory.real, { persistent: false }, (_, name) =>
        this.#noticed(directory, name),
      );
      watcher.on("error", () => this.#paths.add(directory.path)); // on Windows, the removal of the directory
      return watcher;
    } catch (error) {
      if (meansAbsent(error)) return undefined; // whoever removed it made an event in the directory above
      if (!exhausted.has(errnoOf(error))) throw error;
      if (!this.#isExhaustionTold) this.#watcher.failed(exhaustion(directory.path, error));
      this.#isExhaustionTold = true;
      return undefined;
    }
  }

  /** The system reported something about a name in a directory, or about the directory itself. */
  #noticed(directory: WatchedDirectory, name: string | null): void {
    this.#countEvent();
    // Under its own name, a directory reports what becomes of itself. Nobody else does for the root, and behind a link.
    if (name === null || name === basename(directory.real)) this.#paths.add(directory.path);
    if (name === null) return;
    const path = directory.pathOf(name);
    if (!this.#isLeftOut(path, name)) this.#paths.add(path);
    for (const link of this.#links.to(join(directory.real, name))) this.#paths.add(link);
  }

  #countEvent(): void {
    this.#eventsAtOnce += 1;
    if (this.#eventsAtOnce === 1) {
      setImmediate(() => {
        if (this.#eventsAtOnce >= maxEventsAtOnce) this.#paths.add("/");
        this.#eventsAtOnce = 0;
      });
    }
  }

  /** Has everything in a directory looked at that is not as it was. */
  async #readThrough(directory: WatchedDirectory): Promise<void> {
    const names = new Set<string>();
    let batch: Dirent[] = [];
    try {
      for await (const entry of await opendir(directory.real, { bufferSize: 4 * batchSize })) {
        names.add(entry.name);
        batch.push(entry);
        if (batch.length < batchSize) continue;
        await Promise.all(batch.map((each) => this.#consider(directory, each)));
        batch = [];
      }
      await Promise.all(batch.map((each) => this.#consider(directory, each)));
    } catch (error) {
      if (!meansAbsent(error)) throw error;
    }
    for (const known of [directory.files, directory.directories]) {
      for (const name of known.keys()) if (!names.has(name)) this.#paths.addNow(directory.pathOf(name));
    }
  }

  async #consider(directory: WatchedDirectory, entry: Dirent): Promise<void> {
    const path = directory.pathOf(entry.name);
    if (this.#isLeftOut(path, entry.name)) return;
    if (!entry.isFile()) return this.#paths.addNow(path); // a directory, or a link
    const location = join(directory.real, entry.name);
    const stat = this.#disk.paths.isProtected(location) ? undefined : await statAt(location);
    if (stat?.type !== "file" || stat.version === directory.files.get(entry.name)) return;
    if (this.#state === "starting") directory.files.set(entry.name, stat.version);
    else this.#paths.add(path);
  }

  /** Whether nobody wants to hear of a name, whatever it stands for. */
  #isLeftOut(path: string, name: string): boolean {
    return isTemporaryName(name) || unaddressable.test(name) || this.#watcher.ignores(path);
  }

  /** Nobody reports that the root is there again. */
  #awaitRoot(): void {
    clearTimeout(this.#rootTimer);
    this.#rootTimer = setTimeout(() => this.#paths.addNow("/"), rootAbsentMs).unref();
  }
}

async function statAt(location: string): Promise<StoredStat | undefined> {
  try {
    return await measure(() => lstat(location, { bigint: true }));
  } catch (error) {
    if (meansAbsent(error)) return undefined;
    throw error;
  }
}

function exhaustion(path: string, cause: unknown): Error {
  const limits = "fs.inotify.max_user_watches, fs.inotify.max_user_instances and the limit of open files";
  const what = `watch: the system allows no more watches (${errnoOf(cause)})`;
  return new Error(`${what}; edits in ${path}, and maybe elsewhere, are not announced. On Linux see ${limits}.`, {
    cause,
  });
}
