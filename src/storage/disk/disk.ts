import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";
import { StorageError } from "../storage.ts";
import { appendNoteName, openNote } from "./append-note.ts";
import { errnoOf } from "./errors.ts";
import { storedStat } from "./file-version.ts";
import { diskLocks } from "./machine-locks.ts";
import { OpenDirectory } from "./open-directory.ts";
import type { DiskPaths, Target } from "./paths.ts";
import { endAppend } from "./take-back.ts";
import { fileIdentity, isSettled, settle } from "./visible-stat.ts";

/** What all operations on one disk storage share. */
export interface Disk {
  readonly paths: DiskPaths;
  /** Whether a change is on the disk itself, beyond a power failure, before it counts as made. */
  readonly sync: boolean;
  /** Who is to look at a file that is about to be changed: what others did to it is told first. */
  readonly witnesses?: ReadonlySet<ChangeWitness>;
  /** Told of what went wrong after a change was made; the change stands. */
  report(problem: unknown): void;
}

/** See {@link Disk.witnesses}. */
export interface ChangeWitness {
  /** Called under the file's lock. Never rejects. */
  beforeChange(path: string): Promise<void>;
}

/** A target whose lock is held. */
export interface LockedTarget extends Target {
  /** The nearest directory above it that exists, open; that of the file if nothing is missing. */
  readonly parent: OpenDirectory;
  /** The target's name in its directory. */
  readonly name: string;
  /** The record of what is there; `undefined` for nothing. */
  readonly current: BigIntStats | undefined;
}

/** How often something is tried again when others change the same directory or file at the same time. */
export const maxAttempts = 5;

/**
 * Runs `task` while nothing else on this machine changes the file that `path` leads to. A directory that is open already
 * and turns out to be the right one is used, and not closed.
 */
export async function locked<T>(
  disk: Disk,
  path: string,
  task: (target: LockedTarget) => Promise<T>,
  open?: OpenDirectory,
): Promise<T> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const { real } = await disk.paths.target(path);
    const outcome = await diskLocks.run(real, async () => {
      // Looked up again: while this one waited, links may have been changed and directories made or removed.
      const target = await disk.paths.target(path);
      if (target.real !== real) return undefined;
      await callWitnesses(disk, path);
      return inDirectory(target.directory, open, async (parent) => {
        const name = basename(real);
        const current = target.missing.length > 0 ? undefined : await settledRecord(parent, name);
        return { value: await task({ ...target, parent, name, current }) };
      });
    });
    if (outcome !== undefined) return outcome.value;
  }
  throw new StorageError("conflict");
}

/** Has everyone who watches look at a file before it is changed. */
export async function callWitnesses({ witnesses }: Disk, path: string): Promise<void> {
  for (const witness of witnesses ?? []) await witness.beforeChange(path);
}

/** Runs `task` while nothing else changes the file by way of another name; the lock of this name is held already. */
export function alone<T>(stats: BigIntStats, task: () => Promise<T>): Promise<T> {
  return stats.nlink > 1n ? diskLocks.run(fileIdentity(stats), task) : task();
}

/** The record, as long as it is that of a regular file or nothing; throws for anything else. */
export function regularFile(stats: BigIntStats | undefined): BigIntStats | undefined {
  if (stats?.isDirectory()) throw new StorageError("is-directory");
  if (stats?.isFile() === false) throw new StorageError("forbidden");
  return stats;
}

/** The record of what has that location; `undefined` for nothing. */
export async function recordAt(location: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(location, { bigint: true });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function inDirectory<T>(
  real: string,
  open: OpenDirectory | undefined,
  task: (directory: OpenDirectory) => Promise<T | undefined>,
): Promise<T | undefined> {
  if (open?.real === real && (await open.isInPlace())) return task(open);
  const directory = await openUnlessMoved(real);
  try {
    return directory && (await task(directory));
  } finally {
    await directory?.close();
  }
}

/** `undefined` where it has moved, or gone, since it was looked up. */
async function openUnlessMoved(real: string): Promise<OpenDirectory | undefined> {
  try {
    return await OpenDirectory.open(real);
  } catch (error) {
    const isMoved = error instanceof StorageError ? error.code === "conflict" : errnoOf(error) === "ENOENT";
    if (isMoved) return undefined;
    throw error;
  }
}

/** The record of a file under its lock. An append to it that its process did not live to end is ended first. */
async function settledRecord(parent: OpenDirectory, name: string): Promise<BigIntStats | undefined> {
  const file = parent.at(name);
  const stats = await recordAt(file);
  if (!stats?.isFile()) return stats;
  const real = join(parent.real, name);
  const stat = storedStat(stats);
  if (isSettled(real, stat)) return stats;
  const note = parent.at(appendNoteName(stats.ino));
  const found = await openNote(note);
  await found?.handle.close();
  if (!found) {
    settle(real, stat);
    return stats;
  }
  await alone(stats, () => endAppend({ note, file }));
  return recordAt(file);
}
