import { basename, dirname } from "node:path";
import { type HeldLock, requireHeld } from "../locks.ts";
import { type MoveChecks, StorageError, type StoredStat, type WriteResult } from "../storage.ts";
import type { Disk } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import { errnoOf, fileIdentity, statOf } from "./file-record.ts";
import { foldedName } from "./listed-names.ts";
import { maxAttempts } from "./locked-target.ts";
import { settle } from "./visible-file.ts";
import type { FileRecord } from "./write-programs.ts";

/**
 * Renames a file while nothing else on this machine changes it, or what is at its new path. `undefined` where a link or
 * another disk is on the way, where the file has other names, or where a note about an append to it lies beside it:
 * then a copy is needed.
 */
export async function move(
  disk: Disk,
  from: string,
  to: string,
  checks: MoveChecks = {},
): Promise<WriteResult | undefined> {
  const [source, target] = [await locationWithoutLinks(disk, from), await locationWithoutLinks(disk, to)];
  if (source === undefined || target === undefined) return undefined;
  const [one, other] = [foldedName(source), foldedName(target)];
  if (one === other) return undefined; // they have one lock, which cannot be taken twice
  // Two moves the other way round would wait for each other for ever, if each took that of its source first.
  const [first, second] = one < other ? [source, target] : [target, source];
  return diskLocks.run(first, (outer) =>
    diskLocks.run(second, async (inner) => {
      await disk.callWitnesses(from);
      await disk.callWitnesses(to);
      return moveLocked(disk, source, target, checks, [outer, inner]);
    }),
  );
}

async function locationWithoutLinks({ paths }: Disk, path: string): Promise<string | undefined> {
  const { real, missing } = await paths.target(path);
  return !path.endsWith("/") && missing.length === 0 && real === paths.locationOf(path) ? real : undefined;
}

async function moveLocked(
  disk: Disk,
  source: string,
  target: string,
  { check, checkTarget }: MoveChecks,
  held: readonly (HeldLock | undefined)[],
): Promise<WriteResult | undefined> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const [found, there] = await Promise.all([look(disk, source), look(disk, target)]);
    if (!isMovable(found) || !(there === "nothing" || isMovable(there))) return undefined;
    const replaced = there === "nothing" ? undefined : statOf(there);
    const { version } = statOf(found);
    check?.(statOf(found));
    checkTarget?.(replaced);
    requireHeld(...held);
    const place = {
      directory: dirname(source),
      name: basename(source),
      expected: version,
      missing: [],
      sync: disk.sync,
    };
    const goal = { directory: dirname(target), name: basename(target), expected: replaced?.version };
    const result = await disk.run({ kind: "move", ...place, goal }).catch(unlessOtherDisk);
    if (result === undefined || result.kind === "elsewhere") return undefined;
    if (result.kind !== "done" || !result.record) continue; // another program has changed one of them
    const stat: StoredStat = statOf(result.record);
    settle(target, stat, fileIdentity(result.record));
    return { created: replaced === undefined, stat };
  }
  throw new StorageError("conflict");
}

async function look(disk: Disk, location: string): Promise<FileRecord | "nothing" | "elsewhere"> {
  const result = await disk.run({ kind: "look", directory: dirname(location), name: basename(location) });
  return result.kind !== "found" || result.hasNote ? "elsewhere" : (result.found ?? "nothing");
}

function isMovable(found: FileRecord | "nothing" | "elsewhere"): found is FileRecord {
  return typeof found === "object" && found.type === "file" && found.nlink === 1n;
}

function unlessOtherDisk(error: unknown): undefined {
  if (errnoOf(error) !== "EXDEV") throw error;
}
