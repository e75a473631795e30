import { type Storage, StorageError, type StoredEntry, type StoredStat } from "../storage/storage.ts";

/** How many entries are measured together: enough to keep a disk busy, few enough to leave others room. */
const batchSize = 32;

export interface ListedEntry extends StoredEntry {
  readonly stat: StoredStat;
}

/** Measures entries in batches, as they are asked for. Those that are gone, changed or out of sight are left out. */
export async function* measureEntries(
  storage: Pick<Storage, "stat">,
  path: string,
  names: readonly StoredEntry[],
): AsyncGenerator<ListedEntry[]> {
  for (let start = 0; start < names.length; start += batchSize) {
    const batch = names.slice(start, start + batchSize);
    const stats = await Promise.all(batch.map(({ name }) => statOf(storage, path + name)));
    yield batch.flatMap(({ name, type }, index) => {
      const stat = stats[index];
      return stat?.type === type ? [{ name, type, stat }] : [];
    });
  }
}

async function statOf(storage: Pick<Storage, "stat">, path: string): Promise<StoredStat | undefined> {
  try {
    return await storage.stat(path);
  } catch (error) {
    if (isOutOfSight(error)) return undefined;
    throw error;
  }
}

const hides: ReadonlySet<string> = new Set(["forbidden", "name-too-long", "not-found", "not-a-directory"]);

export function isOutOfSight(error: unknown): boolean {
  return error instanceof StorageError && hides.has(error.code);
}
