import { type BigIntStats, constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { PathLock } from "../path-lock.ts";
import { StorageError } from "../storage.ts";
import { errnoOf } from "./errors.ts";
import { machineLocks } from "./machine-locks.ts";
import type { DiskPaths, Target } from "./paths.ts";

/** What all operations on one disk storage share. */
export interface Disk {
  readonly paths: DiskPaths;
  /** Whether a change is on the disk itself, beyond a power failure, before it counts as made. */
  readonly sync: boolean;
  /** Who is to look at a file that is about to be changed: what others did to it is told first. */
  readonly witnesses?: ReadonlySet<ChangeWitness>;
}

/** See {@link Disk.witnesses}. */
export interface ChangeWitness {
  /** Called under the file's lock. Never rejects. */
  beforeChange(path: string): Promise<void>;
}

/** How often something is tried again when others change the same directory or file at the same time. */
export const maxAttempts = 5;

/** By real location, for all disk storages of the machine: hosts and processes may share a directory. */
export const diskLocks: PathLock = new PathLock(machineLocks());

/** How a directory may refuse to be synced where that is no failure: systems that cannot, or rights to enter only. */
const unsyncable: ReadonlySet<string> = new Set(["EACCES", "EISDIR", "EINVAL", "ENOTSUP", "EPERM"]);

/** Runs `task` while nothing else on this machine changes the file that `path` leads to. */
export async function locked<T>(disk: Disk, path: string, task: (target: Target) => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { real } = await disk.paths.target(path);
    const outcome = await diskLocks.run(real, async () => {
      // Looked up again: while this one waited, links may have been changed and directories made or removed.
      const target = await disk.paths.target(path);
      if (target.real !== real) return undefined;
      await callWitnesses(disk, path);
      return { value: await task(target) };
    });
    if (outcome !== undefined) return outcome.value;
  }
  throw new StorageError("conflict");
}

/** Has everyone who watches look at a file before it is changed. */
export async function callWitnesses({ witnesses }: Disk, path: string): Promise<void> {
  for (const witness of witnesses ?? []) await witness.beforeChange(path);
}

/** The record of the file at a real location; `undefined` for nothing; throws for what is not a regular file. */
export async function regularFileAt(real: string): Promise<BigIntStats | undefined> {
  const stats = await lstat(real, { bigint: true }).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (stats?.isDirectory()) throw new StorageError("is-directory");
  if (stats?.isFile() === false) throw new StorageError("forbidden");
  return stats;
}

/** Makes the names in a directory survive a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  try {
    const handle = await open(directory, constants.O_RDONLY);
    await handle.sync().finally(() => handle.close());
  } catch (error) {
    if (!unsyncable.has(errnoOf(error))) throw error;
  }
}
