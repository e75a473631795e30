import { createHmac, randomBytes } from "node:crypto";
import { hashFormats, isSame, type PasswordHash } from "./hash-formats.ts";
import type { Encryption, UserRecord } from "./users.ts";

export interface StoredPassword {
  /** Hashes of one kind cost the same time. `undefined` for a password that never matches. */
  readonly kind: string | undefined;
  /** Why the users file cannot be accepted; completes `user "ada": ...`. The password never matches. */
  readonly problem?: string;
  /** Why the format should be replaced; completes `user "ada": ...`. */
  readonly warning?: string;
  /** Whether `password` is the one that was stored: its UTF-8 bytes, as they are. */
  matches(password: string): Promise<boolean>;
}

export interface KnownUser {
  readonly record: UserRecord;
  readonly stored: StoredPassword;
}

/** More than any tool hashes (`htpasswd` stops at 255), and short enough to hash at once. */
const maxPasswordBytes = 1024;

/** All implementations for Node compute thousands of rounds on the event loop. */
const shaCrypt = /^\$[56]\$.*\$[./0-9A-Za-z]{43,86}$/;
const shaCryptProblem =
  "the password is a SHA-crypt hash ($5$ or $6$), which is not supported: expected bcrypt (htpasswd -B) or argon2";

const unknownFormat =
  'the password is stored in no known format and never matches (a plain one needs the encryption "plaintext")';

type HashName = keyof typeof hashFormats;
const hashNames = Object.keys(hashFormats) as HashName[];

/**
 * Recognises how a user's password is stored, once, when the users are loaded. Never throws: what is wrong is the
 * `problem` of what it gives. No text in it repeats any of the password or the hash.
 */
export function parseHash({ password, encryption }: Pick<UserRecord, "password" | "encryption">): StoredPassword {
  if (password === "") return unusable({ problem: "the password is empty" });
  if (shaCrypt.test(password)) return unusable({ problem: shaCryptProblem });
  const format = formatOf(password);
  if (encryption !== undefined && encryption !== "plaintext" && encryption !== format) {
    return unusable({ problem: contradiction(encryption, format) });
  }
  const hash = format && hashFormats[format].read(password);
  if (encryption === "plaintext") {
    // A hash marked as plain text would itself be the password of everyone who reads a copy of the file.
    const isHash = typeof hash === "object";
    return stored(isHash ? contradiction("plaintext", format) : plaintext(password));
  }
  return hash ? stored(hash) : unusable({ warning: unknownFormat });
}

/** The format of a hash, also of a malformed one; `undefined` for other texts. */
export function formatOf(password: string): HashName | undefined {
  return hashNames.find((name) => hashFormats[name].beginning.test(password));
}

/**
 * Whether a password can exist. Impossible ones are refused without hashing for every user name, so that the time tells
 * nothing. A NUL ends a password for the tools that make hashes, and bcrypt repeats the password after it.
 */
export function isPossiblePassword(password: string): boolean {
  return !password.includes("\0") && Buffer.byteLength(password) <= maxPasswordBytes;
}

/** The password itself, for users files that say so. */
function plaintext(text: string): PasswordHash | string {
  if (!isPossiblePassword(text)) {
    return `the password has a NUL or more than ${maxPasswordBytes} bytes, and could never match`;
  }
  // Digests are of one length, and comparing them tells nothing about the length of the password.
  const key = randomBytes(32);
  const digest = (password: string | Buffer): Buffer => createHmac("sha256", key).update(password).digest();
  const expected = digest(text);
  return {
    kind: "plaintext",
    warning: "the password is stored as plain text: everyone who can read the file knows it",
    matches: async (password) => isSame(digest(password), expected),
  };
}

function contradiction(encryption: Encryption, format: HashName | undefined): string {
  if (encryption !== "plaintext" && !Object.hasOwn(hashFormats, encryption)) {
    // Not repeated: it may be a password in the wrong place.
    return `the encryption is unknown: expected one of ${["plaintext", ...hashNames].join(", ")}`;
  }
  const actual = format === undefined ? "in no known format" : `a hash of the format "${format}"`;
  return `encryption is "${encryption}", but the password is ${actual}`;
}

function stored(hash: PasswordHash | string): StoredPassword {
  if (typeof hash === "string") return unusable({ problem: hash });
  return { ...hash, matches: async (password) => isPossiblePassword(password) && hash.matches(Buffer.from(password)) };
}

function unusable(reason: { problem: string } | { warning: string }): StoredPassword {
  return { kind: undefined, ...reason, matches: async () => false };
}
