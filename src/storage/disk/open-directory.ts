import { constants, existsSync, readlinkSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rmdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { StorageError } from "../storage.ts";
import { errnoOf } from "./file-record.ts";

/** Where Linux shows the files that this process has open. Elsewhere directories go by their names. */
const descriptors: string | undefined =
  process.platform === "linux" && existsSync("/proc/self/fd") ? "/proc/self/fd" : undefined;

/** Windows opens no directories. */
const isOpenable = process.platform !== "win32";

/** What Linux puts behind the name of what was removed since it was opened. */
const removed = " (deleted)";

const directoryFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Opens a directory only to name what is in it, which takes no right to list it; Linux, not among Node's constants. */
const pathFlag = 0o10000000;

/** How a directory may refuse to be synced where that is no failure: systems that cannot, or rights to enter only. */
const unsyncable: ReadonlySet<string> = new Set(["EACCES", "EBADF", "EISDIR", "EINVAL", "ENOTSUP", "EPERM"]);

/**
 * Whether an open file is the one that was meant, rather than one that a link put in place of a directory leads to. The kernel
 * answers from its memory and never from a disk, in a tenth of the time that a thread of the pool takes to ask.
 */
export function liesAt({ fd }: FileHandle, real: string): boolean {
  if (descriptors === undefined) return true;
  const location = readlinkSync(`${descriptors}/${fd}`);
  return location === real || location === real + removed;
}

/**
 * A directory that was opened and found to lie where it should. On Linux everything that is done by way of `at` is done in
 * just that directory, whatever becomes of its name meanwhile. Elsewhere it is done by name.
 */
export class OpenDirectory {
  /** Whether the system tells where an open directory lies: then one that was opened was not reached by a link. */
  static readonly isChecked: boolean = descriptors !== undefined;

  /** Its real location. */
  readonly real: string;
  readonly #shared: SharedHandle;
  #isClosed = false;

  private constructor(real: string, shared: SharedHandle) {
    this.real = real;
    this.#shared = shared;
    shared.users += 1;
  }

  /** Throws `conflict` where another directory lies there by now, or is reached by a link. */
  static async open(real: string): Promise<OpenDirectory> {
    const inPlace = OpenDirectory.inUse(real);
    if (inPlace) return inPlace;
    const opened = new SharedHandle(real, await checked(await openHandle(real), real));
    inUse.set(real, opened);
    return new OpenDirectory(real, opened);
  }

  /** One that somebody has open right now, and that still lies there. */
  static inUse(real: string): OpenDirectory | undefined {
    const shared = OpenDirectory.isChecked ? inUse.get(real) : undefined;
    return shared?.isInPlace() ? new OpenDirectory(real, shared) : undefined;
  }

  /** A directory in this one. */
  async openBelow(name: string): Promise<OpenDirectory> {
    const real = join(this.real, name);
    return new OpenDirectory(real, new SharedHandle(real, await openHandle(this.at(name))));
  }

  /** A path for system calls that leads to a name in it. Not to be used after it was closed. */
  at(name: string): string {
    return descriptors === undefined ? join(this.real, name) : `${descriptors}/${this.#shared.fd}/${name}`;
  }

  /** Whether it still lies where it was opened. */
  isInPlace(): boolean {
    return this.#shared.isInPlace();
  }

  /** Makes the names that are in it by now survive a power failure. Requests that wait together share the effort. */
  sync(): Promise<void> {
    return this.#shared.sync();
  }

  /** Never rejects: nothing was written to it. Harmless when called twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#shared.leave();
  }
}

/** The directories that are open at the moment, by real location: who comes meanwhile looks whether one is in place, and uses it. */
const inUse = new Map<string, SharedHandle>();

/** The handle of a directory, for all who use it at the same time; the last to leave closes it. */
class SharedHandle {
  readonly #real: string;
  readonly #handle: FileHandle | undefined;
  users = 0;
  #syncing: Promise<void> | undefined;
  #nextSync: Promise<void> | undefined;

  constructor(real: string, handle: FileHandle | undefined) {
    this.#real = real;
    this.#handle = handle;
  }

  get fd(): number | undefined {
    return this.#handle?.fd;
  }

  isInPlace(): boolean {
    return descriptors === undefined || readlinkSync(`${descriptors}/${this.fd}`) === this.#real;
  }

  /** A sync under way may have missed the last changes: all who come meanwhile wait for the next one. */
  sync(): Promise<void> {
    if (!this.#syncing) return this.#beginSync();
    this.#nextSync ??= this.#syncing.catch(ignoreFailure).then(() => this.#beginSync());
    return this.#nextSync;
  }

  #beginSync(): Promise<void> {
    this.#nextSync = undefined;
    const syncing = syncUnlessUnable(this.#handle).finally(() => {
      if (this.#syncing === syncing) this.#syncing = undefined;
    });
    this.#syncing = syncing;
    return syncing;
  }

  async leave(): Promise<void> {
    this.users -= 1;
    if (this.users > 0) return;
    if (inUse.get(this.#real) === this) inUse.delete(this.#real);
    await this.#handle?.close().catch(ignoreFailure);
  }
}

async function syncUnlessUnable(handle: FileHandle | undefined): Promise<void> {
  try {
    await handle?.sync();
  } catch (error) {
    if (!unsyncable.has(errnoOf(error))) throw error;
  }
}

/** Those who wait for it have it, too. */
function ignoreFailure(): void {}

async function openHandle(location: string): Promise<FileHandle | undefined> {
  if (!isOpenable) return requireDirectory(location);
  try {
    return await open(location, directoryFlags);
  } catch (error) {
    if (errnoOf(error) === "ELOOP") throw new StorageError("conflict", error);
    if (descriptors === undefined || errnoOf(error) !== "EACCES") throw error;
    return open(location, directoryFlags | pathFlag);
  }
}

async function requireDirectory(location: string): Promise<undefined> {
  const stats = await lstat(location);
  if (stats.isSymbolicLink()) throw new StorageError("conflict");
  if (!stats.isDirectory()) throw new StorageError("not-a-directory");
}

async function checked(handle: FileHandle | undefined, real: string): Promise<FileHandle | undefined> {
  try {
    if (!handle || liesAt(handle, real)) return handle;
    throw new StorageError("conflict");
  } catch (error) {
    await handle?.close();
    throw error;
  }
}

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

  /** Makes those that are missing below `parent`, the outermost first. */
  static async make(parent: OpenDirectory, missing: readonly string[]): Promise<MissingParents> {
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
