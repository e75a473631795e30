import { expectedLocation, filePath } from "../../local-files/file-path.ts";
import { readTextFile, TextFileError } from "../../local-files/text-file.ts";
import { checkUsers } from "./check-users.ts";
import type { FoundUsers, LineNote } from "./found-users.ts";
import { readHtpasswd } from "./htpasswd-file.ts";
import type { Users } from "./users.ts";

/** Most problems in one message: a file of another kind has one in each line. */
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
  const { users, isHtml, aboutSpelling, ...rest } = await readFile(location);
  if (users.length === 0) {
    const expected = isHtml ? "at least one item of a type that ends in /Credential" : "at least one line name:hash";
    throw new UsersFileError([`${location}: there are no users: expected ${expected}`]);
  }
  return { users, ...rest };
}

/**
 * Reads the rules of an HTML page like a users file; users that it has play no part. A users file may have none. Throws
 * {@link UsersFileError}.
 */
export async function readRulesFile(location: string): Promise<Pick<Users, "rules" | "warnings">> {
  const { users, rules, isHtml, warnings, aboutSpelling } = await readFile(location);
  // Without users in the file, a role that no user has is no mistake.
  if (isHtml && rules.length > 0) return { rules, warnings: users.length > 0 ? warnings : aboutSpelling };
  const expected = "at least one item of a type that ends in /AuthorizationRule, in an HTML page";
  throw new UsersFileError([`${location}: there are no rules: expected ${expected}`]);
}

interface ReadFile extends Users {
  readonly isHtml: boolean;
  /** Those of the warnings that do not depend on who is listed. */
  readonly aboutSpelling: readonly string[];
}

async function readFile(location: string): Promise<ReadFile> {
  const path = filePath(location);
  if (path === undefined) throw new UsersFileError([`${JSON.stringify(location)}: expected ${expectedLocation}`]);
  const text = await textOf(location, path);
  const isHtml = /^\s*</.test(text) || /\.html?$/i.test(path);
  const found = await (isHtml ? readPage(text) : readHtpasswd(text));
  const { users, rules, problems, warnings } = await checkUsers(found);
  const inFile = (notes: readonly LineNote[]): string[] =>
    notes.map(({ line, text }) => `${location}, line ${line}: ${text}`);
  if (problems.length > maxProblems) {
    const further = `${location}: and ${problems.length - maxProblems} more problems`;
    throw new UsersFileError([...inFile(problems.slice(0, maxProblems)), further]);
  }
  if (problems.length > 0) throw new UsersFileError(inFile(problems));
  return { users, rules, warnings: inFile(warnings), isHtml, aboutSpelling: inFile(found.warnings) };
}

/** The HTML parser is loaded only for users files that need it. */
async function readPage(text: string): Promise<FoundUsers> {
  const { readMicrodataUsers } = await import("./microdata-users.ts");
  return readMicrodataUsers(text);
}

async function textOf(location: string, path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (cause) {
    if (cause instanceof TextFileError) throw new UsersFileError([`${location}: ${cause.message}`], { cause });
    throw cause;
  }
}
