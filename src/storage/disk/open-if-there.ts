import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { meansAbsent } from "./errors.ts";

// A real location has no links in it: if one has appeared since it was looked up, it is not followed. And opening a FIFO
// that nobody writes must not hang.
const always = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens what lies at a real location, to read or also to write; `undefined` where there is nothing, or a link. */
export async function openIfThere(
  location: string,
  access: number = constants.O_RDONLY,
): Promise<FileHandle | undefined> {
  try {
    return await open(location, access | always);
  } catch (error) {
    if (meansAbsent(error)) return undefined;
    throw error;
  }
}
