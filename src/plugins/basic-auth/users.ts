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
 * Says who may do what where. Of all the rules that apply to somebody, a path and a right, the most specific one decides;
 * with rules but none that applies, nothing is permitted.
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

/** Who there is and who may do what: the content of a users file. */
export interface Users {
  readonly users: readonly UserRecord[];
  readonly rules: readonly PermissionRule[];
  /** What is allowed but not wise, for the log: a password in plain text, a weak hash. */
  readonly warnings: readonly string[];
}
