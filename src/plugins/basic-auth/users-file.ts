import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { errnoOf } from "../../storage/disk-errors.ts";
import { checkUsers } from "./check-users.ts";
import { fileLocation } from "./file-location.ts";
import type { LineNote } from "./found-users.ts";
import { readHtpasswd } from "./htpasswd-file.ts";
import { readMicrodataUsers } from "./microdata-users.ts";
import type { Users } from "./users.ts";

/** Some 30,000 users; it is read into memory as a whole. */
const maxFileBytes = 5 * 1024 * 1024;
/** Whoever names the wrong file does not want to hear of each of its lines. */
const maxProblems = 50;

/** A users file that cannot be used. The message names the file, and each line with what was expected there. */
export class UsersFileError extends Error {
  override readonly name = "UsersFileError";
  /** One sentence for each thing that is wrong. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(`the users file cannot be used: ${problems.join("; ")}`, options);
    this.problems = problems;
  }
}

/**
 * Reads a users file, given as a path or a `file://` URL: HTML with microdata where it looks like HTML or its name ends
 * in `.html` or `.htm`, otherwise Apache `htpasswd`. Throws one {@link UsersFileError} with everything that is wrong.
 */
export async function readUsersFile(location: string): Promise<Users> {
  const path = locate(location);
  const text = decode(location, await contentOf(location, path));
  const isHtml = /^\s*</.test(text) || /\.html?$/i.test(path);
  const found = await (isHtml ? readMicrodataUsers(text) : readHtpasswd(text));
  const { users, rules, problems, warnings } = await checkUsers(found);
  const inFile = (notes: readonly LineNote[]): string[] =>
    notes.map(({ line, text }) => `${location}, line ${line}: ${text}`);
  if (problems.length > maxProblems) {
    const further = `${location}: and ${problems.length - maxProblems} more problems`;
    throw new UsersFileError([...inFile(problems.slice(0, maxProblems)), further]);
  }
  if (problems.length > 0) throw new UsersFileError(inFile(problems));
  if (users.length === 0) {
    const expected = isHtml ? "at least one item of a type that ends in /Credential" : "at least one line name:hash";
    throw new UsersFileError([`${location}: there are no users: expected ${expected}`]);
  }
  return { users, rules, warnings: inFile(warnings) };
}

function locate(location: string): string {
  try {
    return fileLocation(location);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsersFileError([`${JSON.stringify(location)}: ${reason}`], { cause });
  }
}

async function contentOf(location: string, path: string): Promise<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    // Opening a FIFO would otherwise wait for somebody who writes into it.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    if (stats.isDirectory()) throw new UsersFileError([`${location}: it is a directory: expected a file`]);
    if (!stats.isFile()) throw new UsersFileError([`${location}: it is no regular file: expected a file`]);
    if (stats.size > maxFileBytes) throw tooLarge(location);
    const bytes = await atMost(maxFileBytes + 1, file);
    if (bytes.length > maxFileBytes) throw tooLarge(location); // it has grown since
    return bytes;
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === "") throw cause;
    throw new UsersFileError([`${location}: ${unreadable(errno)}`], { cause });
  } finally {
    await file?.close();
  }
}

async function atMost(length: number, file: FileHandle): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for (let read = 0; read < length; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(64 * 1024, length - read)));
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    read += bytesRead;
  }
  return Buffer.concat(chunks);
}

function tooLarge(location: string): UsersFileError {
  return new UsersFileError([`${location}: it is larger than 5 MiB: expected a users file of at most 5 MiB`]);
}

function unreadable(errno: string): string {
  if (errno === "ENOENT" || errno === "ENOTDIR") return "there is no such file: expected a users file";
  if (errno === "EACCES" || errno === "EPERM") return "it may not be read: expected a file that the server may read";
  return `it cannot be read (${errno}): expected a users file`;
}

/** A byte order mark at the beginning is dropped. */
function decode(location: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsersFileError([`${location}: it is not UTF-8: expected a text in this encoding`], { cause });
  }
}
