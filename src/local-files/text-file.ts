import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { errnoOf } from "../storage/disk/file-record.ts";

/** It is read into memory as a whole. */
const maxFileBytes = 5 * 1024 * 1024;
const tooLarge = "it is larger than 5 MiB: expected a smaller file";

/** A file that cannot be read as text; the message says what was found and what was expected. */
export class TextFileError extends Error {
  override readonly name = "TextFileError";
}

/** Reads a file of at most 5 MiB of UTF-8; a byte order mark is dropped. Throws {@link TextFileError}. */
export async function readTextFile(path: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    // Without it, opening a FIFO would wait for a writer.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (stats.isDirectory()) throw new TextFileError("it is a directory: expected a file");
    if (!stats.isFile()) throw new TextFileError("it is not a regular file: expected a file");
    if (stats.size > maxFileBytes) throw new TextFileError(tooLarge);
    const bytes = await buffer(file.createReadStream({ end: maxFileBytes, autoClose: false }));
    if (bytes.length > maxFileBytes) throw new TextFileError(tooLarge); // it has grown since
    return decode(bytes);
  } catch (cause) {
    const errno = errnoOf(cause);
    throw errno === "" ? cause : new TextFileError(unreadable(errno), { cause });
  } finally {
    await file?.close();
  }
}

function unreadable(errno: string): string {
  if (errno === "ENOENT" || errno === "ENOTDIR") return "the file does not exist: expected a file";
  if (errno === "EACCES" || errno === "EPERM") return "it may not be read: expected a file that the server may read";
  return `it cannot be read (${errno}): expected a file`;
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TextFileError("it is not UTF-8: expected a text in this encoding", { cause });
  }
}
