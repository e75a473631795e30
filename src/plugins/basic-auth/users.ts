import { shown } from "../../options/schema.ts";
import type { PermissionRule } from "../permissions/rules.ts";

/** How a password is stored where its own text does not tell. */
export type Encryption = "plaintext" | "bcrypt" | "argon2" | "scrypt" | "apr1" | "sha1";

/** A user, as a users file or a list in code has it. */
export interface UserRecord {
  readonly username: string;
  /** The hash of the password; the password itself only together with `encryption: "plaintext"`. */
  readonly password: string;
  /** How the password is stored. @default what the hash itself says */
  readonly encryption?: Encryption | undefined;
  /** What the rules call the user besides the name. @default [] */
  readonly roles?: readonly string[] | undefined;
}

/** A sentence about a line of a users file, without the name of the file; never with any part of a password. */
export interface LineNote {
  readonly line: number;
  readonly text: string;
}

/** What stands in a users file of either format. */
export interface FoundUsers {
  readonly users: (UserRecord & { readonly line: number })[];
  readonly rules: (PermissionRule & { readonly line: number })[];
  readonly problems: LineNote[];
  readonly warnings: LineNote[];
}

export function nothingFound(): FoundUsers {
  return { users: [], rules: [], problems: [], warnings: [] };
}

/** Most problems of one file: a file of another kind has one in each line. */
export const maxProblems = 50;

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
