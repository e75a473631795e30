import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, open, readlink } from "node:fs/promises";
import { join } from "node:path";
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

/** Whether an open file is the one that was meant, rather than one that a link put in place of a directory leads to. */
export async function liesAt({ fd }: FileHandle, real: string): Promise<boolean> {
  if (descriptors === undefined) return true;
  const location = await readlink(`${descriptors}/${fd}`);
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
  readonly #handle: FileHandle | undefined;

  private constructor(real: string, handle: FileHandle | undefined) {
    this.real = real;
    this.#handle = handle;
  }

  /** Throws `conflict` where another directory lies there by now, or is reached by a link. */
  static async open(real: string): Promise<OpenDirectory> {
    return new OpenDirectory(real, await checked(await openHandle(real), real));
  }

  /** A directory in this one. */
  async openBelow(name: string): Promise<OpenDirectory> {
    return new OpenDirectory(join(this.real, name), await openHandle(this.at(name)));
  }

  /** A path for system calls that leads to a name in it. Not to be used after it was closed. */
  at(name: string): string {
    return descriptors === undefined ? join(this.real, name) : `${descriptors}/${this.#handle?.fd}/${name}`;
  }

  /** Whether it still lies where it was opened. */
  async isInPlace(): Promise<boolean> {
    if (descriptors === undefined) return true;
    return (await readlink(`${descriptors}/${this.#handle?.fd}`)) === this.real;
  }

  /** Makes the names in it survive a power failure. */
  async sync(): Promise<void> {
    try {
      await this.#handle?.sync();
    } catch (error) {
      if (!unsyncable.has(errnoOf(error))) throw error;
    }
  }

  /** Never rejects: nothing was written to it. */
  async close(): Promise<void> {
    await this.#handle?.close().catch(() => {});
  }
}

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
    if (!handle || (await liesAt(handle, real))) return handle;
    throw new StorageError("conflict");
  } catch (error) {
    await handle?.close();
    throw error;
  }
}
