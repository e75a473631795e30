import { type Edit, StorageError, type StoredStat, type WriteResult } from "../storage.ts";
import { callWitnesses, type Disk, maxAttempts, recordAt, regularFile } from "./disk.ts";
import { type LockedTarget, locked } from "./locked-target.ts";
import { openFileAt } from "./open-file.ts";
import { TemporaryFile } from "./temporary-file.ts";
import { lockedStat } from "./visible-stat.ts";
import { fill, keepAttributes, moveIntoPlace } from "./write.ts";

/** Reads, edits and replaces a file under its lock; redone where another program changed the file in between. */
export async function update(disk: Disk, path: string, edit: Edit): Promise<WriteResult & { changed: boolean }> {
  return locked(disk, path, async (target) => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      if (attempt > 0) await callWitnesses(disk, path);
      const { stat, bytes } = await readWhole(path, target);
      const edited = await edit(bytes, stat);
      if (edited === undefined) return { created: false, changed: false, stat };
      const replaced = await replaceIfStill(disk, target, stat.version, edited);
      if (replaced !== undefined) return { created: false, changed: true, stat: replaced };
    }
    throw new StorageError("conflict");
  });
}

async function readWhole(path: string, target: LockedTarget): Promise<{ stat: StoredStat; bytes: Uint8Array }> {
  regularFile(target.current);
  const file = path.endsWith("/") || !target.current ? undefined : await openFileAt(target.parent.at(target.name));
  if (file === undefined) throw new StorageError("not-found");
  try {
    return { stat: file.stat, bytes: await file.bytes() };
  } finally {
    await file.close();
  }
}

/** What is stored now; `undefined`, and nothing is changed, if it is no longer the version that was edited. */
async function replaceIfStill(
  disk: Disk,
  target: LockedTarget,
  version: string,
  content: Uint8Array,
): Promise<StoredStat | undefined> {
  const temporary = await TemporaryFile.create(target.parent);
  try {
    const size = await fill(disk, temporary, [content]);
    const current = regularFile(await recordAt(target.parent.at(target.name)));
    if (current === undefined || lockedStat(current).version !== version) return undefined;
    await keepAttributes(temporary.handle, current);
    return await moveIntoPlace(disk, temporary, target, size);
  } finally {
    await temporary.remove();
  }
}
