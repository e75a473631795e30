import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type HeldLock, requireHeld } from "../locks.ts";
import { type MoveChecks, StorageError, type StoredStat, type WriteResult } from "../storage.ts";
import { unlessElsewhere } from "./directory.ts";
import { type Disk, maxAttempts } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import { errnoOf, type FileRecord, fileIdentity, statOf } from "./file-record.ts";
import { foldedName } from "./listed-names.ts";
import { settle } from "./look.ts";

/**
 * Renames a file while nothing else on this machine changes it, or what is at its new path; or a directory, to a path
 * where nothing is. `undefined` where a link or another disk is on the way, where the file has other names, or where a
 * note about an append to it lies beside it: then a copy is needed. Writes under way in a directory go with it,
 * or find that it has moved.
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
      const type = from.endsWith("/") ? "directory" : "file";
      return moveLocked(disk, source, target, type, checks, [outer, inner]);
    }),
  );
}

async function locationWithoutLinks({ paths }: Disk, path: string): Promise<string | undefined> {
  const { real, missing } = await paths.target(path);
  return missing.length === 0 && real === paths.locationOf(path) ? real : undefined;
}

async function moveLocked(
  disk: Disk,
  source: string,
  target: string,
  type: StoredStat["type"],
  { check, checkTarget, moved }: MoveChecks,
  held: readonly (HeldLock | undefined)[],
): Promise<WriteResult | undefined> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const looks = [source, target].map((location) => disk.look(location).catch(unlessElsewhere));
    const [found, there] = await Promise.all(looks);
    if (!found || !there || found.hasNote || there.hasNote || !isMovable(found.record, type)) return undefined;
    if (there.record && (type === "directory" || !isMovable(there.record, type))) return undefined;
    if (type === "directory") await requireMovableContent(disk, source);
    const replaced = there.record && statOf(there.record);
    const before = statOf(found.record, type);
    check?.(before);
    checkTarget?.(replaced);
    requireHeld(...held);
    const expected = type === "directory" ? fileIdentity(found.record) : before.version;
    const place = { directory: dirname(source), name: basename(source), expected, sync: disk.sync };
    const goal = { directory: dirname(target), name: basename(target), expected: replaced?.version };
    const result = await disk.run({ kind: "move", ...place, goal }).catch(unlessCopied);
    if (result === undefined) return undefined;
    if (!result.isDone || !result.record) continue; // another program has changed one of them
    const stat = type === "file" ? settle(target, result.record).stat : statOf(result.record, type);
    await moved?.();
    return { created: replaced === undefined, stat };
  }
  throw new StorageError("conflict");
}

function isMovable(found: FileRecord | undefined, type: StoredStat["type"]): found is FileRecord {
  return found?.type === type && (type === "directory" || found.nlink === 1n);
}

/** Throws where what is in a directory may not come along: a protected file would not be protected elsewhere. */
async function requireMovableContent({ paths }: Disk, directory: string): Promise<void> {
  const left = [directory];
  for (let holder = left.pop(); holder !== undefined; holder = left.pop()) {
    for await (const entry of await opendir(holder)) {
      const location = join(holder, entry.name);
      const isPlain = entry.isFile() || entry.isDirectory(); // a link may lead to something else from there
      if (!isPlain || paths.isProtected(location)) throw new StorageError("forbidden");
      if (entry.isDirectory()) left.push(location);
    }
  }
}

/** Windows renames no directory in which a file is open. */
function unlessCopied(error: unknown): undefined {
  const isInUse = process.platform === "win32" && ["EPERM", "EACCES", "EBUSY"].includes(errnoOf(error));
  if (!isInUse && errnoOf(error) !== "EXDEV") unlessElsewhere(error);
}
