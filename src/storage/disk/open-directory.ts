import { closeDirectory, type Directory, isTold, liesInPlace, openDirectory } from "./directory.ts";
import { inPool } from "./system-calls.ts";

/** A directory that is open for all who use it at the same time. */
export interface OpenDirectory extends Directory {
  users: number;
}

const inUse = new Map<string, OpenDirectory>();

/** Opens a directory; `undefined` where it is not, or has moved or gone since it was looked up. */
export async function enterDirectory(real: string): Promise<OpenDirectory | undefined> {
  const known = inUse.get(real);
  if (known && liesInPlace(known)) {
    known.users += 1;
    return known;
  }
  const directory = await inPool(openDirectory(real));
  if (!directory) return undefined;
  const opened = { ...directory, users: 1 };
  if (isTold()) inUse.set(real, opened);
  return opened;
}

/** Never rejects: nothing was written to it. The last to leave closes it. */
export async function leaveDirectory(directory: OpenDirectory): Promise<void> {
  directory.users -= 1;
  if (directory.users > 0) return;
  if (inUse.get(directory.real) === directory) inUse.delete(directory.real);
  await inPool(closeDirectory(directory));
}
