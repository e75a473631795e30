import fs, { type BigIntStats, constants } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { errnoOf, meansAbsent } from "./file-record.ts";

/** The system calls that programs consist of: functions of `node:fs`, with numbers for open files. */
interface SystemCalls {
  open(path: string, flags: number, mode?: number): number;
  close(file: number): void;
  read(file: number, into: Uint8Array, offset: number, length: number, position: number): number;
  write(file: number, bytes: Uint8Array, offset: number, length: number, position: number | null): number;
  fstat(file: number, options: { readonly bigint: true }): BigIntStats;
  lstat(path: string, options: { readonly bigint: true }): BigIntStats;
  lutimes(path: string, accessed: number, modified: number): void;
  chmod(path: string, mode: number): void;
  chown(path: string, user: number, group: number): void;
  ftruncate(file: number, length: number): void;
  fsync(file: number): void;
  fdatasync(file: number): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  unlink(path: string): void;
  mkdir(path: string): void;
  rmdir(path: string): void;
}

type CallName = keyof SystemCalls;

/** A system call. With `directory`, all who ask for it may share one; with `"answer"` a program gives its result. */
export interface SystemCall {
  readonly name: CallName | "answer";
  readonly values: readonly unknown[];
  readonly directory?: string;
}

/**
 * System calls one after the other, and what is decided in between. The runner makes the calls: all at once in a thread
 * of its own, or each by way of Node's thread pool; so a test can have any of them fail, or be the last.
 */
export type Program<Result> = Generator<SystemCall, Result, unknown>;

type Asking = {
  [Name in CallName]: (...values: Parameters<SystemCalls[Name]>) => Program<ReturnType<SystemCalls[Name]>>;
};

function* ask(name: CallName, values: readonly unknown[]): Program<unknown> {
  return yield { name, values };
}

/** Asks for system calls within a program: `const file = yield* call.open(...)`. */
export const call: Asking = new Proxy({} as Asking, {
  get:
    (_, name) =>
    (...values: readonly unknown[]) =>
      ask(name as CallName, values),
});

/** Makes the calls of a program one after the other: by way of Node's thread pool, unless `make` makes them. */
export async function inPool<Result>(
  program: Program<Result>,
  make: (asked: SystemCall) => unknown = asynchronously,
): Promise<Result> {
  let step = program.next();
  while (!step.done) {
    try {
      step = program.next(await make(step.value));
    } catch (error) {
      step = program.throw(error);
    }
  }
  return step.value;
}

/** Whether Node runs with `--permission`, which refuses to sync an open file by its number. */
export const isRestricted: boolean = "permission" in process;

function asynchronously(asked: SystemCall): Promise<unknown> {
  const { name, values } = asked;
  if (name === "answer") return Promise.resolve();
  if (isRestricted && Object.hasOwn(byHandle, name)) return Promise.resolve(byHandle[name]?.(values));
  return new Promise((resolve, reject) => {
    const make = fs[name] as (...all: unknown[]) => void; // with what the program gives, and a callback
    make(...values, (error: unknown, value: unknown) => (error ? reject(error) : resolve(value)));
  });
}

const handles = new Map<number, fs.promises.FileHandle>();

/** The calls that are made by way of handles where Node runs with `--permission`. */
const byHandle: Readonly<Partial<Record<CallName, (values: readonly unknown[]) => unknown>>> = {
  async open(values) {
    const handle = await fs.promises.open(...(values as Parameters<typeof fs.promises.open>));
    handles.set(handle.fd, handle);
    return handle.fd;
  },
  close([file]) {
    const handle = handles.get(Number(file));
    handles.delete(Number(file));
    return handle?.close();
  },
  fsync: ([file]) => handles.get(Number(file))?.sync(),
  fdatasync: ([file]) => handles.get(Number(file))?.datasync(),
};

/** Syncs that are about to begin; of a directory one for all who ask for it. */
const due = new Map<unknown, Promise<unknown>>();

/**
 * Makes a call at once, in a thread that does nothing else. Syncs wait until all programs have come to theirs, and are
 * made side by side, so that the file system puts them into one commit.
 */
export function atOnce(asked: SystemCall): unknown {
  const { name, directory } = asked;
  if (name !== "fsync" && name !== "fdatasync") return synchronously(asked);
  const key = directory ?? asked;
  const known = due.get(key);
  if (known) return known;
  const sync = setImmediate().then(() => {
    const isLast = due.size === 1;
    due.delete(key);
    return isLast ? synchronously(asked) : asynchronously(asked);
  });
  due.set(key, sync);
  return sync;
}

function synchronously({ name, values }: SystemCall): unknown {
  if (name === "answer") return undefined;
  const make = fs[`${name}Sync`] as (...all: unknown[]) => unknown; // with what the program gives
  return make(...values);
}

/** What has become a link is not followed, and opening a FIFO without a writer must not hang. */
export const guardFlags: number = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens what lies at a real location for as long as `use` takes; `undefined` where there is nothing, or a link. */
export function* withFile<Result>(
  location: string,
  access: number,
  use: (file: number) => Program<Result>,
): Program<Result | undefined> {
  let file: number;
  try {
    file = yield* call.open(location, access | guardFlags);
  } catch (error) {
    if (meansAbsent(error)) return undefined;
    throw error;
  }
  try {
    return yield* use(file);
  } finally {
    yield* attempted(call.close(file));
  }
}

export function* recordAt(location: string): Program<BigIntStats | undefined> {
  try {
    return yield* call.lstat(location, { bigint: true });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes all of some bytes: from a position on, or to the end of a file that was opened for that. */
export function* writeAll(file: number, bytes: Uint8Array, position: number | null): Program<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    const at = position === null ? null : position + written;
    written += yield* call.write(file, bytes, written, bytes.byteLength - written, at);
  }
}

export function* readInto(file: number, memory: Uint8Array, position: number): Program<number> {
  let length = 0;
  while (length < memory.byteLength) {
    const more = yield* call.read(file, memory, length, memory.byteLength - length, position + length);
    if (more === 0) break;
    length += more;
  }
  return length;
}

/** Whether something was done that may fail without anything being wrong. */
export function* attempted(program: Program<void>): Program<boolean> {
  return (yield* unlessFailed(program, "failed")) !== "failed";
}

export function* unlessFailed<Result, Other>(program: Program<Result>, otherwise: Other): Program<Result | Other> {
  try {
    return yield* program;
  } catch {
    return otherwise;
  }
}
