import { type Dirent, type FSWatcher, watch as watchDirectory } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { StorageWatcher, StoredStat, Unwatch } from "../storage.ts";
import { type Directory, Elsewhere, unlessElsewhere, within } from "./directory.ts";
import type { Disk } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import { errnoOf, meansAbsent } from "./file-record.ts";
import { batchesIn, unaddressable } from "./list.ts";
import { look, statAt } from "./look.ts";
import { wayOf } from "./paths.ts";
import { QuietPaths } from "./quiet-paths.ts";
import { isTemporaryName } from "./temporary-names.ts";
import { WatchedDirectory } from "./watched-directory.ts";

/** The kernel keeps 16,384 events for a process and drops more without a word. With this many, some may be missing. */
const maxAtOnce = 4096;

/** The system has no more watches, or no more descriptors. */
const exhausted: ReadonlySet<string> = new Set(["ENOSPC", "EMFILE", "ENFILE", "ENOMEM"]);

/** How long until the server looks whether a root that was removed is there again, in milliseconds. */
const rootAbsentMs = 1000;

/** The storage cannot show what this user may not look at either. */
const refused: ReadonlySet<string> = new Set(["EACCES", "EPERM"]);

/** Watches all directories of a disk storage; see {@link Storage.watch}. */
export async function watch(disk: Disk, watcher: StorageWatcher): Promise<Unwatch> {
  const watched = new DiskWatch(disk, watcher);
  await watched.start();
  const witness = (path: string): Promise<void> => watched.beforeChange(path);
  disk.witnesses.add(witness);
  return async () => {
    disk.witnesses.delete(witness);
    await watched.close();
  };
}

/**
 * One watch for each directory, set up before the directory is read, so that nothing falls between the two. What the
 * system reports only says where to look: what is there, under the lock that changes through the storage hold, too, is
 * compared with what was there before.
 */
class DiskWatch {
  readonly #disk: Disk;
  readonly #watcher: StorageWatcher;
  readonly #root = new WatchedDirectory("", undefined);
  /** What lies on the way of each link, by its path. */
  readonly #ways = new Map<string, readonly string[]>();
  /** The links that lead over a location, by path: where that changes, so does what clients see at them. */
  readonly #linksOver = new Map<string, Set<string>>();
  readonly #paths = new QuietPaths((path) => this.#examine(path));
  #atOnce = 0;
  #isExhaustionTold = false;
  #state: "starting" | "watching" | "closed" = "starting";
  #rootTimer: NodeJS.Timeout | undefined;

  constructor(disk: Disk, watcher: StorageWatcher) {
    this.#disk = disk;
    this.#watcher = watcher;
  }

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

  #examine(path: string): Promise<void> {
    return this.#guarded(async () => {
      // Under the lock that changes of the path hold. A path that cannot be changed has none, and the look says why; at
      // the start nothing is told of what is there.
      const target =
        this.#state === "starting" ? undefined : await this.#disk.paths.target(path).catch(() => undefined);
      const look = (): Promise<boolean> => this.#look(path);
      const isDirectory = await (target ? diskLocks.run(target.real, look) : look());
      if (isDirectory) await this.#enter(path);
    });
  }

  async #guarded(task: () => Promise<unknown>): Promise<void> {
    try {
      await task();
    } catch (error) {
      if (!(error instanceof Elsewhere || refused.has(errnoOf(error)))) this.#watcher.failed(error);
    }
  }

  /** Compares what is at a path with what was, and tells of a file that differs. Whether it is a directory. */
  async #look(path: string): Promise<boolean> {
    const { name } = split(path);
    if (this.#isLeftOut(path, name)) return false;
    let real: string | undefined;
    const stat = await look(this.#disk, path, (disk, directory, name) => {
      real = join(directory.real, name);
      return statAt(disk, directory, name);
    });
    const isDirectory = stat?.type === "directory";
    const location = join(this.#holderOf(path)?.real ?? this.#disk.paths.root, name);
    const way = stat && real === location ? [] : await wayOf(location, stat && real);
    if (!isDirectory) this.#leave(path);
    if (this.#state === "closed") return false;
    this.#setWay(path, way);
    const holder = this.#holderOf(path); // only now: it may have gone meanwhile, and come again as another
    if (holder) this.#compare(holder, name, stat?.type === "file" ? stat : undefined);
    if (path !== "/" || isDirectory) return isDirectory;
    clearTimeout(this.#rootTimer); // no event tells that the root is there again
    this.#rootTimer = setTimeout(() => this.#paths.addNow("/"), rootAbsentMs).unref();
    return false;
  }

  #setWay(path: string, way: readonly string[]): void {
    for (const each of this.#ways.get(path) ?? []) {
      const links = this.#linksOver.get(each);
      links?.delete(path);
      if (links?.size === 0) this.#linksOver.delete(each);
    }
    if (way.length > 0) this.#ways.set(path, way);
    else this.#ways.delete(path);
    for (const each of way) this.#linksOver.set(each, (this.#linksOver.get(each) ?? new Set()).add(path));
  }

  #holderOf(path: string): WatchedDirectory | undefined {
    return path === "/" ? undefined : this.#root.find(split(path).directory);
  }

  #compare(holder: WatchedDirectory, name: string, stat: StoredStat | undefined): void {
    const before = holder.files.get(name);
    if (stat) holder.files.set(name, stat.version);
    else holder.files.delete(name);
    const path = holder.pathOf(name);
    // Protected since: to be hidden is not a change, and its name is not for everyone, nor that of a link to it.
    const way = this.#ways.get(path) ?? [join(holder.real, name)];
    if (way.some((each) => this.#disk.paths.isProtected(each))) return;
    const isNews = stat?.version !== before || !stat;
    if (isNews && this.#state === "watching") this.#watcher.changed(path, stat, before !== undefined);
    if (!stat) holder.prune();
  }

  /** A directory is no longer there, or no longer one: what was in it is looked at in turn, and will be found gone. */
  #leave(path: string): void {
    const directory = this.#root.find(path);
    if (!directory) return;
    directory.watcher?.close();
    directory.watcher = undefined;
    directory.prune();
    this.#lookForKnown(directory, new Set());
  }

  #lookForKnown(directory: WatchedDirectory, seen: ReadonlySet<string>): void {
    for (const name of [...directory.files.keys(), ...directory.directories.keys()]) {
      if (!seen.has(name)) this.#paths.addNow(directory.pathOf(name));
    }
  }

  /** Watches a directory, anew even if it was watched: it may be another one of the same name. Then goes through it. */
  async #enter(path: string): Promise<void> {
    const real = await this.#disk.paths.find(path);
    if (real === undefined || this.#state === "closed") return;
    const holder = this.#holderOf(path);
    const { name } = split(path);
    if (path !== "/" && !holder?.mayHold(name, real)) return;
    const directory = this.#root.find(path) ?? new WatchedDirectory(name, holder);
    holder?.directories.set(name, directory);
    directory.real = real;
    const before = directory.watcher;
    directory.watcher = this.#watch(directory);
    before?.close();
    await this.#readThrough(directory);
  }

  /** `undefined` where the directory is gone, or no more can be watched. */
  #watch(directory: WatchedDirectory): FSWatcher | undefined {
    try {
      const watcher = watchDirectory(directory.real, { persistent: false }, (_, name) => {
        this.#atOnce += 1;
        if (this.#atOnce === 1) void this.#endCount();
        this.#notice(directory, name ?? undefined);
      });
      return watcher.on("error", () => this.#notice(directory, undefined)); // on Windows, the removal of the directory
    } catch (error) {
      if (meansAbsent(error)) return undefined; // its removal was an event in the directory above
      if (!exhausted.has(errnoOf(error))) throw error;
      if (!this.#isExhaustionTold) this.#watcher.failed(exhaustion(directory.path, error));
      this.#isExhaustionTold = true;
      return undefined;
    }
  }

  async #endCount(): Promise<void> {
    await setImmediate(); // comes after all events that there were to be read
    if (this.#atOnce >= maxAtOnce) this.#paths.add("/"); // everything is gone through then
    this.#atOnce = 0;
  }

  #notice(directory: WatchedDirectory, name: string | undefined): void {
    // Under its own name a directory reports its own changes. For the root, and behind a link, nothing else does.
    if (name === undefined || name === basename(directory.real)) this.#paths.add(directory.path);
    if (name === undefined) return;
    const path = directory.pathOf(name);
    if (!this.#isLeftOut(path, name)) this.#paths.add(path);
    const location = join(directory.real, name);
    for (const link of this.#linksOver.get(location) ?? []) this.#paths.add(link);
  }

  async #readThrough(directory: WatchedDirectory): Promise<void> {
    const names = new Set<string>();
    try {
      await within(directory.real, async (open) => {
        for await (const batch of batchesIn(open)) {
          for (const { name } of batch) names.add(name);
          await Promise.all(batch.map((entry) => this.#guarded(() => this.#consider(directory, open, entry))));
        }
      });
    } catch (error) {
      if (!meansAbsent(error)) unlessElsewhere(error);
    }
    this.#lookForKnown(directory, names);
  }

  async #consider(directory: WatchedDirectory, open: Directory, entry: Dirent): Promise<void> {
    const path = directory.pathOf(entry.name);
    if (this.#isLeftOut(path, entry.name)) return;
    if (!entry.isFile()) return this.#paths.addNow(path); // a directory, or a link
    const location = join(directory.real, entry.name);
    const stat = this.#disk.paths.isProtected(location) ? undefined : await statAt(this.#disk, open, entry.name);
    if (stat?.type !== "file" || stat.version === directory.files.get(entry.name)) return;
    if (this.#state === "starting") directory.files.set(entry.name, stat.version);
    else this.#paths.add(path);
  }

  #isLeftOut(path: string, name: string): boolean {
    return isTemporaryName(name) || unaddressable.test(name) || this.#watcher.ignores(path);
  }
}

function exhaustion(path: string, cause: unknown): Error {
  const limits = "fs.inotify.max_user_watches, fs.inotify.max_user_instances and the limit of open files";
  const what = `watch: the system allows no more watches (${errnoOf(cause)})`;
  const told = `${what}; edits in ${path}, and maybe elsewhere, are not announced. On Linux see ${limits}.`;
  return new Error(told, { cause });
}

function split(path: string): { directory: string; name: string } {
  const slash = path.lastIndexOf("/");
  return { directory: path.slice(0, slash), name: path.slice(slash + 1) };
}
