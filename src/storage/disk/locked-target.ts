import type { BigIntStats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { HeldLock } from "../locks.ts";
import { StorageError } from "../storage.ts";
import { appendNoteName, openNote } from "./append-note.ts";
import type { Disk } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import { fileIdentity, meansAbsent, recordAt, storedStat } from "./file-record.ts";
import { openUnlessMoved } from "./look.ts";
import type { OpenDirectory } from "./open-directory.ts";
import type { Target } from "./paths.ts";
import { endAppend } from "./take-back.ts";
import { isSettled, settle } from "./visible-file.ts";

/** How often something is tried again when others change the same directory or file at the same time. */
export const maxAttempts = 5;

/** Where a change is to be made, before the lock is taken. */
export interface Place {
  /** The directory of the target or, as long as that does not exist, the nearest above, open. */
  readonly directory: OpenDirectory;
  /** The record of what is there; `undefined` for nothing. */
  readonly found: BigIntStats | undefined;
  /** See {@link Target.missing}. */
  readonly missing: readonly string[];
}

/** A target whose lock is held. */
export interface LockedTarget extends Target {
  /** The nearest directory above it that exists, open; that of the target if nothing is missing. */
  readonly parent: OpenDirectory;
  /** The target's name in its directory. */
  readonly name: string;
  /** The record of what is there; `undefined` for nothing. */
  readonly current: BigIntStats | undefined;
  /** The lock. */
  readonly held: HeldLock | undefined;
}

/**
 * Called right before each change. Where the lock has a time limit, makes sure that it is not over, and that the file is what it was
 * when the lock was taken: a process that was stopped for long must not overwrite what another has done since.
 */
export async function requireLock({ held, real, current }: LockedTarget): Promise<void> {
  if (!held?.isOver) return;
  const found = await recordAt(real).catch((error: unknown) => {
    if (meansAbsent(error)) return undefined;
    throw error;
  });
  const isSame = found && current ? storedStat(found).version === storedStat(current).version : found === current;
  if (!isSame) throw new StorageError("conflict", new Error("the file was changed while it was locked"));
  if (held.isOver()) throw new StorageError("busy", new Error("the lock of the file has run out"));
}

/** Finds and opens the directory in which a change under a request path is to be made. */
export async function openPlace(disk: Disk, path: string): Promise<Place> {
  const plain = await plainPlace(disk, path);
  if (plain) return plain;
  for (let attempt = 1; ; attempt += 1) {
    const target = await disk.paths.target(path);
    const found = target.exists ? await recordAt(target.real) : undefined;
    const directory = await openUnlessMoved(target.directory);
    if (directory) return { directory, found, missing: target.missing };
    if (attempt === maxAttempts) throw new StorageError("conflict");
  }
}

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
  const outcome = await lockedPlain(disk, path, task, open);
  if (outcome !== undefined) return outcome.value;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const found = await lockedFound(disk, path, task);
    if (found !== undefined) return found.value;
  }
  throw new StorageError("conflict");
}

/** Most paths have no links in them and lead to directories that exist. Opening one of those says where it lies. */
async function plainParent(disk: Disk, path: string): Promise<OpenDirectory | undefined> {
  const location = disk.paths.plainLocation(path);
  return location === undefined ? undefined : openUnlessMoved(dirname(location));
}

async function plainPlace(disk: Disk, path: string): Promise<Place | undefined> {
  const directory = await plainParent(disk, path);
  if (!directory) return undefined;
  try {
    const found = await recordAt(directory.at(basename(path)));
    if (!found?.isSymbolicLink()) return { directory, found, missing: [] };
  } catch (error) {
    await directory.close();
    throw error;
  }
  await directory.close();
  return undefined;
}

type Outcome<T> = { readonly value: T } | undefined;

/** `undefined` where the path has links in it, or directories are missing. */
async function lockedPlain<T>(
  disk: Disk,
  path: string,
  task: (target: LockedTarget) => Promise<T>,
  open: OpenDirectory | undefined,
): Promise<Outcome<T>> {
  const isGiven = open?.real === dirname(disk.paths.locationOf(path) ?? "");
  const parent = isGiven ? open : await plainParent(disk, path);
  if (!parent) return undefined;
  const name = basename(path);
  const real = join(parent.real, name);
  return diskLocks.run(real, async (held) => {
    try {
      // While this one waited, the directory may have been moved, or something may have become a link.
      if (!(await parent.isInPlace())) return undefined;
      await disk.callWitnesses(path);
      const current = await settledRecord(parent, name);
      if (current?.isSymbolicLink()) return undefined;
      const target = {
        real,
        exists: current !== undefined,
        directory: parent.real,
        missing: [],
        parent,
        name,
        current,
        held,
      };
      return { value: await task(target) };
    } finally {
      if (!isGiven) await parent.close();
    }
  });
}

/** `undefined` where the path leads to somewhere else by now. */
async function lockedFound<T>(
  disk: Disk,
  path: string,
  task: (target: LockedTarget) => Promise<T>,
): Promise<Outcome<T>> {
  const { real } = await disk.paths.target(path);
  return diskLocks.run(real, async (held) => {
    // Looked up again: while this one waited, links may have been changed and directories made or removed.
    const target = await disk.paths.target(path);
    if (target.real !== real) return undefined;
    await disk.callWitnesses(path);
    const parent = await openUnlessMoved(target.directory);
    if (!parent) return undefined;
    try {
      const name = basename(real);
      const current = target.missing.length > 0 ? undefined : await settledRecord(parent, name);
      return { value: await task({ ...target, parent, name, current, held }) };
    } finally {
      await parent.close();
    }
  });
}

/** Runs `task` while nothing else changes the file by way of another name; the lock of this name is held already. */
export function alone<T>(stats: BigIntStats, task: () => Promise<T>): Promise<T> {
  return stats.nlink > 1n ? diskLocks.run(fileIdentity(stats), task) : task();
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
