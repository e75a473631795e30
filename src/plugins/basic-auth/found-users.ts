import type { PermissionRule } from "../permissions/rules.ts";
import { parseHash } from "./password.ts";
import type { UserRecord } from "./users.ts";

/** A sentence about a line of a users file, without the name of the file; never with any part of a password. */
export interface LineNote {
  readonly line: number;
  readonly text: string;
}

/** What stands in a users file of either format, before it is known whether that makes sense as a whole. */
export interface FoundUsers {
  readonly users: (UserRecord & { readonly line: number })[];
  readonly rules: (PermissionRule & { readonly line: number })[];
  readonly problems: LineNote[];
  readonly warnings: LineNote[];
}

export function nothingFound(): FoundUsers {
  return { users: [], rules: [], problems: [], warnings: [] };
}

/** Most problems and warnings that are kept of one file. A file of another kind has one in each line. */
export const maxNotes = 1_000;

const control = /[\x00-\x1f\x7f-\x9f]/;

/** What makes a text unfit to be a user name, if anything does. */
export function userNameProblem(name: string): string | undefined {
  if (name === "") return "the user name is empty: expected a name";
  if (control.test(name)) return `the user name ${shown(name)} has control characters: expected a name without`;
  if (name.includes(":"))
    return `the user name ${shown(name)} has a colon: expected a name without, as clients end it there`;
  if (name === "*") return 'the user name is "*": expected another one, as rules mean everyone by it';
  return undefined;
}

/** Whether a text is a hash of a known format. */
export function isHash(password: string): boolean {
  return parseHash({ password }).format !== undefined;
}

/** A text from a users file for a message. */
export function shown(text: string): string {
  const longest = 60;
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}...` : text);
}
