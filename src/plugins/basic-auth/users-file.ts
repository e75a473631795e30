import { ConfigError } from "../../config.ts";
import { itemsInSlices } from "../../event-loop/sliced-work.ts";
import { expectedLocation, filePath } from "../../local-files/file-path.ts";
import { readTextFile, TextFileError } from "../../local-files/text-file.ts";
import { shown } from "../../options/schema.ts";
import { isPrincipal, type PermissionRule } from "../permissions/rules.ts";
import { type KnownUser, parseHash } from "./password.ts";
import {
  type FoundUsers,
  type LineNote,
  maxProblems,
  nothingFound,
  type UserRecord,
  userNameProblem,
} from "./users.ts";

export interface UsersFile {
  readonly users: readonly KnownUser[];
  readonly rules: readonly PermissionRule[];
  /** For the log: passwords in plain text, weak hashes, and the like. */
  readonly warnings: readonly string[];
}

/**
 * Reads a users file, given as a path or a `file://` URL: HTML with microdata where it looks like HTML or its name ends
 * in `.html` or `.htm`, otherwise Apache `htpasswd`. Throws one `ConfigError` that names the file and each line that is
 * wrong.
 */
export async function readUsersFile(location: string): Promise<UsersFile> {
  const { isHtml, ...file } = await readFile(location);
  if (file.users.length > 0) return file;
  const expected = isHtml ? "at least one item of a type that ends in /Credential" : "at least one line name:hash";
  throw new ConfigError([`${location}: there are no users: expected ${expected}`]);
}

/** Reads the rules of an HTML page like a users file, which may have no users. Throws a `ConfigError`. */
export async function readRulesFile(location: string): Promise<Omit<UsersFile, "users">> {
  const { rules, isHtml, warnings } = await readFile(location);
  if (isHtml && rules.length > 0) return { rules, warnings };
  const expected = "at least one item of a type that ends in /AuthorizationRule, in an HTML page";
  throw new ConfigError([`${location}: there are no rules: expected ${expected}`]);
}

async function readFile(location: string): Promise<UsersFile & { readonly isHtml: boolean }> {
  const path = filePath(location);
  if (path === undefined) throw new ConfigError([`${JSON.stringify(location)}: expected ${expectedLocation}`]);
  const text = await textOf(location, path);
  const isHtml = /^\s*</.test(text) || /\.html?$/i.test(path);
  // The HTML parser is loaded only for users files that need it.
  const read = isHtml ? (await import("./microdata-users.ts")).readMicrodataUsers : readHtpasswd;
  const found = await read(text);
  const users = await checkUsers(found);
  const { rules, problems, warnings } = found;
  const inFile = (notes: readonly LineNote[]): string[] => {
    const inOrder = [...notes].sort((one, other) => one.line - other.line);
    return [...new Set(inOrder.map(({ line, text }) => `${location}, line ${line}: ${text}`))];
  };
  if (problems.length === 0) return { users, rules, warnings: inFile(warnings), isHtml };
  const further = problems.length < maxProblems ? [] : [`${location}: further problems are not listed`];
  throw new ConfigError([...inFile(problems).slice(0, maxProblems), ...further]);
}

/** Reads an Apache `htpasswd` file: `name:hash` in each line; further fields are ignored, and so are comments. */
export async function readHtpasswd(text: string): Promise<FoundUsers> {
  const found = nothingFound();
  let line = 0;
  for await (const [untrimmed] of itemsInSlices(text.matchAll(/[^\n]*\n?/g))) {
    if (found.problems.length >= maxProblems) break;
    line += 1;
    const entry = untrimmed.trim();
    if (entry === "" || entry.startsWith("#")) continue;
    const user = readEntry(entry);
    if (typeof user === "string") found.problems.push({ line, text: user });
    else found.users.push({ ...user, line });
  }
  return found;
}

/** The user of an entry, or what is wrong with it; never with what may be a password. */
function readEntry(entry: string): UserRecord | string {
  const [username = "", password] = entry.split(":");
  if (password === undefined) return "there is no colon: expected name:hash";
  const nameProblem = userNameProblem(username);
  if (nameProblem !== undefined) return nameProblem;
  const user = shown(username);
  if (username !== username.trim() || password !== password.trim())
    return `there is white space beside the colon after ${user}: expected name:hash`;
  return password === "" ? `user ${user} has no password: expected a hash after the colon` : { username, password };
}

async function textOf(location: string, path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    if (error instanceof TextFileError) throw new ConfigError([`${location}: ${error.message}`]);
    throw error;
  }
}

/** Reads the passwords, and adds what is wrong between users and rules: names that come twice, and the like. */
async function checkUsers({ users, rules, problems, warnings }: FoundUsers): Promise<readonly KnownUser[]> {
  const known: KnownUser[] = [];
  const lines = new Map<string, number>();
  const roles = new Set<string>();
  /** The first user with a warning, and how many more have the same. */
  const weak = new Map<string, { readonly line: number; readonly name: string; more: number }>();
  for await (const { line, ...user } of itemsInSlices(users)) {
    if (problems.length >= maxProblems) return [];
    const name = shown(user.username);
    const earlier = lines.get(nameKey(user.username));
    if (earlier === undefined) lines.set(nameKey(user.username), line);
    else problems.push({ line, text: `the user name ${name} stands in line ${earlier} already: expected another one` });
    for (const role of user.roles ?? []) roles.add(role);

    const stored = parseHash(user);
    known.push({ record: user, stored });
    const { problem, warning } = stored;
    if (problem !== undefined) problems.push({ line, text: `user ${name}: ${problem}` });
    if (warning === undefined) continue;
    const first = weak.get(warning);
    if (first) first.more += 1;
    else weak.set(warning, { line, name, more: 0 });
  }
  for (const [warning, { line, name, more }] of weak) {
    warnings.push({ line, text: `user ${name}${more > 0 ? ` and ${more} more` : ""}: ${warning}` });
  }
  if (users.length === 0) return []; // then they stand in another file
  for (const { line, username, role } of rules) {
    if (username !== undefined && !isPrincipal(username) && !lines.has(nameKey(username)))
      warnings.push({ line, text: `the rule is about the user ${shown(username)}, but there is no such user` });
    if (role !== undefined && !roles.has(role))
      warnings.push({ line, text: `the rule is about the role ${shown(role)}, which no user has` });
  }
  return known;
}

/** Two encodings of "é" look the same, so they are one name. */
function nameKey(username: string): string {
  return username.normalize("NFC");
}
