import syncFs from "node:fs";
import fs, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { constants } from "node:os";

/** System calls by the name of a path, and those on an open file. */
const calls = ["open", "rename", "link", "unlink", "mkdir", "rmdir", "lstat", "stat", "realpath", "opendir"] as const;
const handleCalls = [
  ...["stat", "read", "write", "writev", "appendFile", "truncate", "utimes", "chmod", "chown"],
  ...["sync", "datasync", "close"],
] as (keyof FileHandle & string)[];

/** The same as programs of system calls make them, with a callback. */
const callbackCalls = [
  ...["open", "close", "read", "write", "fstat", "lstat", "readlink", "utimes", "chmod", "chown", "ftruncate"],
  ...["fsync", "fdatasync", "rename", "link", "unlink", "mkdir", "rmdir"],
];

type Call = (this: unknown, ...values: unknown[]) => Promise<unknown>;

/** A disk of which one call fails. */
export interface FaultyDisk {
  /** The call that failed; `undefined` if there were fewer. */
  readonly failed: string | undefined;
  /** How many calls there were. */
  readonly count: number;
  /** Has all calls succeed again. */
  mend(): void;
}

/**
 * Has the system call of that number fail with an error, counted from now and over all of `node:fs` in this process but
 * for its synchronous part, of which the looks at where an open file lies count, and with `isSync` all that a thread of a disk calls. What fails has not been done, except that a file is closed.
 */
export async function failAt(step: number, code: string, isSync = false): Promise<FaultyDisk> {
  const handle = await fs.open(process.execPath);
  const handles = Object.getPrototypeOf(handle) as Record<string, Call>;
  await handle.close();
  const originals = { ...fs };
  const { readlinkSync } = syncFs;
  const originalHandles = Object.fromEntries(handleCalls.map((name) => [name, handles[name] as Call]));
  let count = 0;
  let failed: string | undefined;
  const isFailing = (name: string, values: readonly unknown[]): boolean => {
    count += 1;
    if (count !== step) return false;
    failed = `${name} ${values.filter((value) => typeof value === "string").join(" ")}`;
    return true;
  };
  const failing = (name: string, original: Call): Call =>
    async function (...values) {
      if (!isFailing(name, values)) return original.apply(this, values);
      if (name === "close") await original.apply(this, values);
      throw faultOf(code, name);
    };
  const failingLook = (path: string): string => {
    if (isFailing("readlink", [path])) throw faultOf(code, "readlink");
    return readlinkSync(path);
  };
  const sync = syncFs as unknown as Record<string, (...values: unknown[]) => unknown>;
  const syncNames = callbackCalls.filter((name) => name !== "readlink").map((name) => `${name}Sync`);
  const originalSync = Object.fromEntries(syncNames.map((name) => [name, sync[name]]));
  for (const name of isSync ? syncNames : []) {
    const original = sync[name];
    sync[name] = (...values) => {
      if (!isFailing(name, values)) return original?.(...values);
      if (name === "closeSync") original?.(...values);
      throw faultOf(code, name);
    };
  }
  const callbacks = syncFs as unknown as Record<string, (...values: unknown[]) => void>;
  const originalCallbacks = Object.fromEntries(callbackCalls.map((name) => [name, callbacks[name]]));
  for (const name of callbackCalls) {
    const original = callbacks[name];
    callbacks[name] = (...values) => {
      const callback = values.at(-1) as (error: Error) => void;
      if (!isFailing(name, values)) return original?.(...values);
      if (name === "close") original?.(...values.slice(0, -1), () => callback(faultOf(code, name)));
      else setImmediate(callback, faultOf(code, name));
    };
  }
  for (const name of calls) Object.assign(fs, { [name]: failing(name, fs[name] as Call) });
  for (const name of handleCalls) handles[name] = failing(name, originalHandles[name] as Call);
  Object.assign(syncFs, { readlinkSync: failingLook });
  syncBuiltinESMExports();
  return {
    get count() {
      return count;
    },
    get failed() {
      return failed;
    },
    mend() {
      Object.assign(fs, originals);
      Object.assign(handles, originalHandles);
      Object.assign(syncFs, { readlinkSync, ...originalCallbacks, ...originalSync });
      syncBuiltinESMExports();
    },
  };
}

/** An error as Node 20 makes it; it has no name for EDQUOT. */
function faultOf(name: string, syscall: string): Error {
  const errno = -((constants.errno as Record<string, number>)[name] ?? 1);
  const code = name === "EDQUOT" ? `Unknown system error ${errno}` : name;
  return Object.assign(new Error(`${code}: made by a test, ${syscall}`), { code, errno, syscall });
}
