import { basename, dirname } from "node:path";
import { type Directory, isTold } from "./directory.ts";
import type { Disk } from "./disk.ts";
import { enterDirectory, leaveDirectory } from "./open-directory.ts";
import type { Seen } from "./visible-file.ts";

/**
 * How often a path is looked up anew of which a part was moved, or became a link, since it was looked up. Where only
 * names lead to directories, each time could be the one in which that goes unnoticed.
 */
const maxAttempts = isTold() ? 5 : 1;

/**
 * What `see` sees at a path, by way of its directory, which is open and was found to lie inside the root: nothing is
 * told of, nor remembered, that was reached by the path alone. `undefined` where nothing is to be seen.
 */
export async function look<T>(
  { paths }: Pick<Disk, "paths">,
  path: string,
  see: (directory: Directory, name: string) => Promise<Seen<T>>,
): Promise<T | undefined> {
  // Most paths have no links in them.
  let real = paths.plainLocation(path);
  for (let attempt = 0; attempt <= maxAttempts; attempt += 1) {
    const seen = real === undefined ? "elsewhere" : await seenIn(real, real === paths.root, see);
    if (seen !== "elsewhere") return seen;
    real = await paths.find(path);
    if (real === undefined) return undefined;
  }
  return undefined;
}

async function seenIn<T>(
  real: string,
  isRoot: boolean,
  see: (directory: Directory, name: string) => Promise<Seen<T>>,
): Promise<Seen<T>> {
  const directory = await enterDirectory(isRoot ? real : dirname(real));
  if (!directory) return "elsewhere";
  try {
    return await see(directory, isRoot ? "." : basename(real));
  } finally {
    await leaveDirectory(directory);
  }
}
