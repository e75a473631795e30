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

/** The content of a users file. */
export interface Users {
  readonly users: readonly UserRecord[];
  readonly rules: readonly PermissionRule[];
  /** For the log: passwords in plain text, weak hashes, and the like. */
  readonly warnings: readonly string[];
}
