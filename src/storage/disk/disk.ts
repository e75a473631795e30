import type { BigIntStats } from "node:fs";
import { diskLocks } from "./disk-locks.ts";
import { fileIdentity } from "./file-record.ts";
import type { DiskPaths } from "./paths.ts";

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

/** How often something is tried again when others change the same directory or file at the same time. */
export const maxAttempts = 5;

/** Has everyone who watches look at a file before it is changed. */
export async function callWitnesses({ witnesses }: Disk, path: string): Promise<void> {
  for (const witness of witnesses ?? []) await witness.beforeChange(path);
}

/** Runs `task` while nothing else changes the file by way of another name; the lock of this name is held already. */
export function alone<T>(stats: BigIntStats, task: () => Promise<T>): Promise<T> {
  return stats.nlink > 1n ? diskLocks.run(fileIdentity(stats), task) : task();
}
