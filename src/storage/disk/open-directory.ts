import { type BigIntStats, constants, existsSync, readlinkSync } from "node:fs";
import { type FileHandle, lstat, open, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StorageError } from "../storage.ts";
import { errnoOf, fileIdentity, meansAbsent, recordAt } from "./file-record.ts";

/** Where Linux shows the files that this process has open, where that may be read; looked for when it is first needed. */
const descriptorsFolder = "/proc/self/fd";
let isShown: boolean | undefined;

/** That folder. Elsewhere directories go by their names, and are compared by identity. */
export function descriptors(): string | undefined {
  isShown ??= process.platform === "linux" && exists(descriptorsFolder);
  return isShown ? descriptorsFolder : undefined;
}

/** `false` also where the runtime does not let the program look. */
function exists(path: string): boolean {
  try {
    return existsSync(path);
  } catch {
    return false;
  }
}

/** Windows opens no directories. */
export const isOpenable: boolean = process.platform !== "win32";

/** What Linux puts behind the name of what was removed since it was opened. */
const removed = " (deleted)";

export const directoryFlags: number = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Opens a directory only to name what is in it, which takes no right to list it; Linux, not among Node's constants. */
export const pathFlag = 0o10000000;

/**
 * How often it is asked where a file lies that was opened by name: another program that exchanges directories all the time may be
 * lucky with each of them.
 */
const looksAtOpened = 6;

/** How a directory may refuse to be synced where that is no failure: systems that cannot, or rights to enter only. */
export const unsyncable: ReadonlySet<string> = new Set(["EACCES", "EBADF", "EISDIR", "EINVAL", "ENOTSUP", "EPERM"]);

/**
 * A directory that was opened and found to lie where it should. On Linux everything that is done by way of `at` is done in
 * just that directory, whatever becomes of its name meanwhile. Elsewhere it is done by name, and {@link isInPlace} asks afterwards
 * whether every directory on the way is still the same.
 */
export class OpenDirectory {
  /** Whether the system tells where an open directory lies: then one that was opened was not reached by a link. */
  static get isChecked(): boolean {
    return descriptors() !== undefined;
  }

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
    const way = descriptors() === undefined ? await wayTo(real) : undefined;
    const opened = new SharedHandle(real, await checked(await openHandle(real), real, way), way);
    if (OpenDirectory.isChecked) inUse.set(real, opened);
    return new OpenDirectory(real, opened);
  }

  /** One that somebody has open right now, and that still lies there. */
  static inUse(real: string): OpenDirectory | undefined {
    const shared = OpenDirectory.isChecked ? inUse.get(real) : undefined;
    return shared?.isInPlace() === true ? new OpenDirectory(real, shared) : undefined;
  }

  /** A path for system calls that leads to a name in it. Not to be used after it was closed. */
  at(name: string): string {
    return descriptors() === undefined ? join(this.real, name) : `${descriptors()}/${this.#shared.fd}/${name}`;
  }

  /** Whether it still lies where it was opened. */
  isInPlace(): boolean | Promise<boolean> {
    return this.#shared.isInPlace();
  }

  /** Opens a name in it; throws `conflict` where it was opened somewhere else, see {@link stillHolds}. */
  async open(name: string, flags: number, mode?: number): Promise<FileHandle> {
    const handle = await open(this.at(name), flags, mode);
    if (OpenDirectory.isChecked || (await this.hasOpened(name, await handle.stat({ bigint: true })))) return handle;
    await handle.close();
    if ((flags & constants.O_EXCL) !== 0) await this.#removeMade(name);
    throw new StorageError("conflict");
  }

  /**
   * Whether what was found in it under a name was not found by way of a link that took the place of a directory meanwhile. Known
   * where all that is done is done in the open directory; elsewhere both are asked again.
   */
  async stillHolds(name: string, found: BigIntStats): Promise<boolean> {
    if (OpenDirectory.isChecked) return true;
    if (!(await this.isInPlace())) return false;
    const now = await recordAt(this.at(name)).catch(ignoreAbsence);
    return now !== undefined && fileIdentity(now) === fileIdentity(found);
  }

  /** The same for a file that was opened. */
  async hasOpened(name: string, opened: BigIntStats): Promise<boolean> {
    for (let look = 0; look < (OpenDirectory.isChecked ? 0 : looksAtOpened); look += 1) {
      if (!(await this.stillHolds(name, opened))) return false;
    }
    return true;
  }

  /** Removes an empty file that was made in another directory, as far as its name leads there again. */
  async #removeMade(name: string): Promise<void> {
    for (let attempt = 0; attempt < looksAtOpened; attempt += 1) {
      const isGone = await unlink(this.at(name)).then(isDone, ignoreFailure);
      if (isGone) return;
    }
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
  readonly #way: string | undefined;
  users = 0;

  constructor(real: string, handle: FileHandle | undefined, way?: string) {
    this.#real = real;
    this.#handle = handle;
    this.#way = way;
  }

  get fd(): number | undefined {
    return this.#handle?.fd;
  }

  isInPlace(): boolean | Promise<boolean> {
    // The kernel answers from its memory and never from a disk, in a tenth of the time that a thread of the pool takes to ask.
    if (descriptors() !== undefined) return readlinkSync(`${descriptors()}/${this.fd}`) === this.#real;
    return wayTo(this.#real).then(
      (way) => way === this.#way,
      () => false,
    );
  }

  async leave(): Promise<void> {
    this.users -= 1;
    if (this.users > 0) return;
    if (inUse.get(this.#real) === this) inUse.delete(this.#real);
    await this.#handle?.close().catch(ignoreFailure);
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
    if (descriptors() === undefined || errnoOf(error) !== "EACCES") throw error;
    return open(location, directoryFlags | pathFlag);
  }
}

async function requireDirectory(location: string): Promise<undefined> {
  const stats = await lstat(location);
  if (stats.isSymbolicLink()) throw new StorageError("conflict");
  if (!stats.isDirectory()) throw new StorageError("not-a-directory");
}

/** Throws where the directory that was opened is not the one that was meant, but one that a link leads to. */
async function checked(
  handle: FileHandle | undefined,
  real: string,
  way: string | undefined,
): Promise<FileHandle | undefined> {
  try {
    if (!handle || (await isMeant(handle, real, way))) return handle;
    throw new StorageError("conflict");
  } catch (error) {
    await handle?.close();
    throw error;
  }
}

async function isMeant(handle: FileHandle, real: string, way: string | undefined): Promise<boolean> {
  if (descriptors() === undefined)
    return way?.endsWith(` ${fileIdentity(await handle.stat({ bigint: true }))}`) ?? false;
  const location = readlinkSync(`${descriptors()}/${handle.fd}`);
  return location === real || location === real + removed;
}

/**
 * The identities of all directories on the way to a real location, itself included, as far as the runtime lets the program look.
 * Throws `conflict` where one is a link.
 */
async function wayTo(real: string): Promise<string> {
  const looks = wayOf(real).map((location) => lstat(location, { bigint: true }).catch(ignoreRefusal));
  const records = (await Promise.all(looks)).filter((record) => record !== undefined);
  if (!records.every((record) => record.isDirectory())) throw new StorageError("conflict");
  return ` ${records.map(fileIdentity).join(" ")}`;
}

/** The directories on the way to a real location, outermost first, itself included. */
export function wayOf(real: string): readonly string[] {
  const locations = [real];
  for (let above = dirname(real); above !== locations[0]; above = dirname(above)) locations.unshift(above);
  return locations;
}

/** What a system refuses has a number; Node's `--permission` and Deno have none. */
function ignoreRefusal(error: unknown): undefined {
  if (errnoOf(error) !== "") throw error;
}

function isDone(): true {
  return true;
}

function ignoreAbsence(error: unknown): undefined {
  if (!meansAbsent(error)) throw error;
}
