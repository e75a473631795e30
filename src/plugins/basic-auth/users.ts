import type { Right } from "../../server/exchange.ts";

/** How a password is stored where its own text does not tell. */
export type Encryption = "plaintext" | "bcrypt" | "argon2" | "scrypt" | "apr1" | "sha1" | "sha256" | "sha512";

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

/**
 * Allows or denies rights to users. Of the rules that apply to a user, a path and a right, the most specific one decides.
 * Where there are rules but none applies, the request is refused.
 */
export interface PermissionRule {
  /** Who: a user name, `":username"` for the owner of that segment of the path, or `"*"` for everyone, known or not. */
  readonly username?: string | undefined;
  /** Who: everyone with this role. Either this or `username`. */
  readonly role?: string | undefined;
  /** Where: `"/docs/*"` is the directory and all below it, `"/users/:username/*"` the part that a user owns. */
  readonly path: string;
  /** What, by method: `"GET"` is read and list, `"PUT"` create and overwrite, `"POST"` append and create. @default all */
  readonly methods?: readonly string[] | undefined;
  /** What, by right. @default all */
  readonly rights?: readonly Right[] | undefined;
  /** Only these elements of documents. `${username}` stands for the user's name, quoted. @default whole files */
  readonly selector?: string | undefined;
  readonly permission: "allow" | "deny";
}

/** The content of a users file. */
export interface Users {
  readonly users: readonly UserRecord[];
  readonly rules: readonly PermissionRule[];
  /** For the log: passwords in plain text, weak hashes, and the like. */
  readonly warnings: readonly string[];
}
