import fs, { type BigIntStats } from "node:fs";

/** The system calls of which programs are made: functions of `node:fs`, with numbers for open files. */
interface SystemCalls {
  open(path: string, flags: number, mode?: number): number;
  close(file: number): void;
  read(file: number, into: Uint8Array, offset: number, length: number, position: number): number;
  write(file: number, bytes: Uint8Array, offset: number, length: number, position: number | null): number;
  fstat(file: number, options: { readonly bigint: true }): BigIntStats;
  lstat(path: string, options: { readonly bigint: true }): BigIntStats;
  utimes(path: string, accessed: number, modified: number): void;
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

/** A system call that a program asks for; `directory` where it may be made once for all who ask for the same. */
export interface SystemCall {
  readonly name: CallName;
  readonly values: readonly unknown[];
  readonly directory?: string;
}

/**
 * System calls one after the other, and what is decided in between. Whoever runs it makes the calls: all at once in a thread of
 * its own, or each by way of Node's thread pool; so a test can have any of them fail, or be the last.
 */
export type Program<Result> = Generator<SystemCall, Result, unknown>;

type Asking = {
  [Name in CallName]: (...values: Parameters<SystemCalls[Name]>) => Program<ReturnType<SystemCalls[Name]>>;
};

const names: readonly CallName[] = [
  ...(["open", "close", "read", "write", "fstat", "lstat", "utimes", "chmod", "chown"] as const),
  ...(["ftruncate", "fsync", "fdatasync", "rename", "link", "unlink", "mkdir", "rmdir"] as const),
];

/** Asks for system calls within a program: `const file = yield* call.open(...)`. */
export const call: Asking = Object.fromEntries(
  names.map((name) => [
    name,
    function* (...values: readonly unknown[]): Program<unknown> {
      return yield { name, values };
    },
  ]),
) as unknown as Asking; // each gives what its call gives

/** Asks for a sync of an open directory, which those who wait for the same one share. */
export function* syncDirectory(file: number, directory: string): Program<void> {
  yield { name: "fsync", values: [file], directory };
}

/** Makes calls one after the other, while others have the event loop. */
export async function inPool<Result>(program: Program<Result>): Promise<Result> {
  let step = program.next();
  while (!step.done) {
    try {
      step = program.next(await asynchronously(step.value));
    } catch (error) {
      step = program.throw(error);
    }
  }
  return step.value;
}

type Callback = (error: NodeJS.ErrnoException | null, value: unknown) => void;

/** Whether Node runs with `--permission`, which refuses to sync an open file by its number. */
const isRestricted = "permission" in process;

function asynchronously(asked: SystemCall): Promise<unknown> {
  const { name, values } = asked;
  if (isRestricted && Object.hasOwn(byHandle, name)) return Promise.resolve(byHandle[name]?.(values));
  return new Promise((resolve, reject) => {
    const make = fs[name] as (...all: unknown[]) => void; // with what the program gives, and a callback
    const callback: Callback = (error, value) => (error ? reject(error) : resolve(value));
    make(...values, callback);
  });
}

/** The handles of what programs have open, by number. */
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

/** How a program has ended. */
export type Ended<Result> = { readonly value: Result } | { readonly error: unknown };

/**
 * Runs programs in the thread that calls it, which does nothing else: each to its next sync. Then all that is to be synced is, side by
 * side, so that the file system puts it into one commit; a directory once for all who asked for it.
 */
export async function together<Result>(programs: readonly Program<Result>[]): Promise<readonly Ended<Result>[]> {
  const ended: Ended<Result>[] = [];
  let waiting = programs.map((program, i) => ({ i, program, ...advance(program, () => program.next()) }));
  for (;;) {
    const syncs = new Map<string | SystemCall, SystemCall>();
    for (const { i, end, sync } of waiting) {
      if (end) ended[i] = end;
      else if (sync) syncs.set(sync.directory ?? sync, sync);
    }
    if (syncs.size === 0) return ended;
    const outcomes = new Map<unknown, Ended<unknown>>();
    const [only] = syncs.size === 1 ? syncs : [];
    if (only) outcomes.set(only[0], attempt(only[1]));
    else
      await Promise.all([...syncs].map(async ([key, sync]) => outcomes.set(key, await settled(asynchronously(sync)))));
    waiting = waiting.flatMap(({ i, program, sync }) => {
      const synced = sync && outcomes.get(sync.directory ?? sync);
      return synced ? [{ i, program, ...advance(program, () => goOn(program, synced)) }] : [];
    });
  }
}

function settled(call: Promise<unknown>): Promise<Ended<unknown>> {
  return call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

interface Advanced<Result> {
  readonly end?: Ended<Result>;
  readonly sync?: SystemCall;
}

/** Runs a program to its end, or to its next sync. */
function advance<Result>(program: Program<Result>, begin: () => IteratorResult<SystemCall, Result>): Advanced<Result> {
  try {
    let step = begin();
    while (!step.done) {
      if (step.value.name === "fsync" || step.value.name === "fdatasync") return { sync: step.value };
      step = goOn(program, attempt(step.value));
    }
    return { end: { value: step.value } };
  } catch (error) {
    return { end: { error } };
  }
}

function goOn<Result>(program: Program<Result>, outcome: Ended<unknown>): IteratorResult<SystemCall, Result> {
  return "error" in outcome ? program.throw(outcome.error) : program.next(outcome.value);
}

function attempt({ name, values }: SystemCall): Ended<unknown> {
  try {
    const make = fs[`${name}Sync`] as (...all: unknown[]) => unknown; // with what the program gives
    return { value: make(...values) };
  } catch (error) {
    return { error };
  }
}
