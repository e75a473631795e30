import { type BigIntStats, constants, existsSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { StorageError } from "../storage.ts";
import { errnoOf, fileIdentity, meansAbsent } from "./file-record.ts";
import { attempted, call, inPool, type Program, recordAt, unlessFailed } from "./system-calls.ts";

/** Where Linux shows the open files of this process, if that may be read; looked for when first needed. */
const descriptorsFolder = "/proc/self/fd";
let isShown: boolean | undefined;

/** Whether the system tells where an open directory lies. Elsewhere directories are compared by identity. */
export function isTold(): boolean {
  try {
    isShown ??= process.platform === "linux" && existsSync(descriptorsFolder);
  } catch {
    isShown = false; // the runtime does not let the program look
  }
  return isShown;
}

/** Windows opens no directories. */
const isOpenable = process.platform !== "win32";

const directoryFlags = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Opens a directory only to name what is in it, which takes no right to list it; Linux, not among Node's constants. */
const pathFlag = 0o10000000;

const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

/** How often a file's place is checked: a program that keeps exchanging directories may be lucky with each. */
const looksAtOpened = 6;

/** How a directory may refuse to be synced without a failure: systems that cannot, or rights to enter only. */
const unsyncable: ReadonlySet<string> = new Set(["EACCES", "EBADF", "EISDIR", "EINVAL", "ENOTSUP", "EPERM"]);

/**
 * A directory that was opened and found to lie where it should. On Linux all that is done by way of `at` is done in
 * just that directory, whatever becomes of its name. Elsewhere it is done by name, and afterwards every directory on
 * the way is asked whether it is still the same.
 */
export interface Directory {
  readonly real: string;
  readonly file: number | undefined;
  /** The identities of the directories on the way to it, where names are all that leads there. */
  readonly way: string | undefined;
  /** A path for system calls that leads to a name in it. Not to be used after it was closed. */
  at(name: string): string;
}

/** A path leads elsewhere by now: its directory moved, or a link is on the way. Nothing was done; try anew. */
export class Elsewhere extends StorageError {
  constructor() {
    super("conflict");
  }
}

export function unlessElsewhere(error: unknown): undefined {
  if (!(error instanceof Elsewhere)) throw error;
}

/** What `use` gives, with the directory at a real location. Throws {@link Elsewhere} where that is not there. */
export async function within<T>(real: string, use: (directory: Directory) => Promise<T>): Promise<T> {
  const directory = await inPool(openDirectory(real));
  try {
    return await use(directory);
  } finally {
    await inPool(closeDirectory(directory));
  }
}

/** The same for a program. */
export function* inDirectory<Result>(real: string, use: (directory: Directory) => Program<Result>): Program<Result> {
  const directory = yield* openDirectory(real);
  try {
    return yield* use(directory);
  } finally {
    yield* closeDirectory(directory);
  }
}

/** Opens the directory at `location`, meant to lie at `real`. Throws {@link Elsewhere} where it does not. */
export function* openDirectory(location: string, real: string = location): Program<Directory> {
  try {
    const way = isTold() ? undefined : yield* wayTo(real);
    const file = isOpenable ? yield* openedToEnter(location) : undefined;
    // Not joined where it is told: "." in a directory must not become the link that leads to it.
    const at = (name: string): string => (isTold() ? `${descriptorsFolder}/${file}/${name}` : join(real, name));
    const directory = { real, file, way, at };
    try {
      yield* requireMeant(directory);
      return directory;
    } catch (error) {
      yield* closeDirectory(directory);
      throw error;
    }
  } catch (error) {
    throw meansAbsent(error) || errnoOf(error) === "ENAMETOOLONG" ? new Elsewhere() : error;
  }
}

function* openedToEnter(location: string): Program<number> {
  try {
    return yield* call.open(location, directoryFlags);
  } catch (error) {
    if (!isTold() || errnoOf(error) !== "EACCES") throw error;
    return yield* call.open(location, directoryFlags | pathFlag);
  }
}

function* requireMeant(directory: Directory): Program<void> {
  const { file, way } = directory;
  const isMeant =
    way === undefined
      ? liesInPlace(directory)
      : file === undefined || way.endsWith(` ${fileIdentity(yield* call.fstat(file, { bigint: true }))}`);
  if (!isMeant) throw new Elsewhere();
}

/** Where the system tells: whether an open directory lies at its real location. */
export function liesInPlace({ real, file }: Directory): boolean {
  // The kernel answers from its memory, never from a disk, in a tenth of the time of a call in the pool.
  return readlinkSync(`${descriptorsFolder}/${file}`) === real;
}

/** The identities of all directories on the way to a location, itself included, as far as the runtime lets us look. */
function* wayTo(real: string): Program<string> {
  const above = dirname(real);
  const way = above === real ? "" : yield* wayTo(above);
  let record: BigIntStats | undefined;
  try {
    record = yield* recordAt(real);
  } catch (error) {
    if (errnoOf(error) !== "") throw error;
    return way; // Node's `--permission` or Deno refuses: what a system refuses has a number
  }
  if (!record?.isDirectory()) throw new Elsewhere();
  return `${way} ${fileIdentity(record)}`;
}

export function* closeDirectory({ file }: Directory): Program<void> {
  if (file !== undefined) yield* attempted(call.close(file));
}

/** Throws {@link Elsewhere} where a directory has moved since it was opened, or another one has taken its name. */
export function* requireInPlace(directory: Directory): Program<void> {
  const { real, way } = directory;
  if (way === undefined ? !liesInPlace(directory) : (yield* wayTo(real)) !== way) throw new Elsewhere();
}

/** The record of a name in a directory. Throws {@link Elsewhere} where that is not certain. */
export function* recordIn(directory: Directory, name: string): Program<BigIntStats> {
  const stats = yield* call.lstat(directory.at(name), { bigint: true });
  yield* requireThere(directory, name, stats);
  return stats;
}

/**
 * Throws {@link Elsewhere} where what was found in a directory under a name may have been found by way of a link that
 * took the place of a directory meanwhile: where only names lead there, both are asked again.
 */
function* requireThere(directory: Directory, name: string, found: BigIntStats): Program<void> {
  if (directory.way === undefined) return;
  yield* requireInPlace(directory);
  const now = yield* unlessFailed(recordAt(directory.at(name)), undefined);
  if (!now || fileIdentity(now) !== fileIdentity(found)) throw new Elsewhere();
}

/** Throws {@link Elsewhere} where an open file may not be the one of that name in a directory. */
export function* requireOpened(directory: Directory, name: string, file: number): Program<void> {
  if (directory.way === undefined) return;
  const opened = yield* call.fstat(file, { bigint: true });
  for (let look = 0; look < looksAtOpened; look += 1) yield* requireThere(directory, name, opened);
}

/** Creates a file in a directory; where that turns out to be another directory, takes it back. */
export function* createIn(directory: Directory, name: string, mode: number): Program<number> {
  const location = directory.at(name);
  const file = yield* call.open(location, createFlags, mode);
  try {
    yield* requireOpened(directory, name, file);
    return file;
  } catch (error) {
    yield* attempted(call.close(file));
    // Empty, and as far as its name leads there again.
    for (let attempt = 0; attempt < looksAtOpened; attempt += 1) {
      if (yield* attempted(call.unlink(location))) break;
    }
    throw error;
  }
}

/** Makes the names in a directory survive a power failure; those who wait for that share one sync. */
export function* sync({ file, real }: Directory): Program<void> {
  if (file === undefined) return;
  try {
    yield { name: "fsync", values: [file], directory: real };
  } catch (error) {
    if (!unsyncable.has(errnoOf(error))) throw error;
  }
}
