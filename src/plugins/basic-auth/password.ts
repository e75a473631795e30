import { apr1 } from "./password/apr1.ts";
import { argon2 } from "./password/argon2.ts";
import { bcrypt } from "./password/bcrypt.ts";
import type { PasswordFormat, PasswordHash } from "./password/password-format.ts";
import { plaintext } from "./password/plaintext.ts";
import { scrypt } from "./password/scrypt.ts";
import { sha1 } from "./password/sha1.ts";
import type { Encryption, UserRecord } from "./users.ts";

/** The password of a user, ready to be compared with. */
export interface StoredPassword {
  /** How it is stored; `undefined` for an unknown format. */
  readonly format: Encryption | undefined;
  /** Hashes of one kind cost the same time. `undefined` for a password that never matches. */
  readonly kind: string | undefined;
  /** Why the users file cannot be accepted; completes `user "ada": ...`. The password never matches. */
  readonly problem?: string;
  /** Why the format should be replaced; completes `user "ada": ...`. */
  readonly warning?: string;
  /** Whether `password` is the one that was stored: its UTF-8 bytes, as they are. */
  matches(password: string): Promise<boolean>;
}

/** More than any tool hashes (`htpasswd` stops at 255), and short enough to hash at once. */
const maxPasswordBytes = 1024;

type HashFormat = Exclude<Encryption, "plaintext">;

const formats: Readonly<Record<HashFormat, PasswordFormat>> = {
  bcrypt,
  argon2,
  scrypt,
  apr1,
  sha1,
};
const formatNames = Object.keys(formats) as HashFormat[];

/**
 * Recognises how a user's password is stored, once, when the users are loaded. Never throws: what is wrong is the
 * `problem` of what it gives. No text in it repeats any of the password or the hash.
 */
export function parseHash(record: Pick<UserRecord, "password" | "encryption">): StoredPassword {
  const { password, encryption } = record;
  if (password === "") return unusable(encryption, { problem: "the password is empty" });
  if (shaCrypt.test(password)) return unusable(undefined, { problem: shaCryptProblem });
  const format = formatNames.find((name) => formats[name].isMeant.test(password));
  if (encryption === "plaintext") return parsePlaintext(password, format);
  if (encryption !== undefined && encryption !== format) return unusable(format, contradiction(encryption, format));
  if (format === undefined) return unusable(undefined, { warning: unknownFormat });
  return stored(format, formats[format].read(password));
}

/** Whether a text is a hash of a known format. */
export function isHash(password: string): boolean {
  return parseHash({ password }).format !== undefined;
}

/**
 * Whether a password can exist. Impossible ones are refused without hashing for every user name, so that the time tells
 * nothing. A NUL ends a password for the tools that make hashes, and bcrypt repeats the password after it.
 */
export function isPossiblePassword(password: string): boolean {
  return !password.includes("\0") && Buffer.byteLength(password) <= maxPasswordBytes;
}

/** All implementations for Node compute thousands of rounds on the event loop. */
const shaCrypt = /^\$[56]\$.*\$[./0-9A-Za-z]{43,86}$/;
const shaCryptProblem =
  "the password is a SHA-crypt hash ($5$ or $6$), which is not supported: expected bcrypt (htpasswd -B) or argon2";

const unknownFormat =
  'the password is stored in no known format and never matches (a plain one needs the encryption "plaintext")';

function parsePlaintext(password: string, format: HashFormat | undefined): StoredPassword {
  if (!isPossiblePassword(password)) {
    const problem = `the password has a NUL or more than ${maxPasswordBytes} bytes, and could never match`;
    return unusable("plaintext", { problem });
  }
  // A hash marked as plain text would itself be the password of everyone who reads a copy of the file.
  if (format !== undefined && "kind" in formats[format].read(password)) {
    return unusable("plaintext", contradiction("plaintext", format));
  }
  return stored("plaintext", plaintext(password));
}

function contradiction(encryption: Encryption, format: HashFormat | undefined): { readonly problem: string } {
  if (encryption !== "plaintext" && !Object.hasOwn(formats, encryption)) {
    const known = ["plaintext", ...formatNames].join(", ");
    // Not repeated: it may be a password in the wrong place.
    return { problem: `the encryption is unknown: expected one of ${known}` };
  }
  const actual = format === undefined ? "in no known format" : `a hash of the format "${format}"`;
  return { problem: `encryption is "${encryption}", but the password is ${actual}` };
}

function stored(format: Encryption, hash: PasswordHash | { readonly problem: string }): StoredPassword {
  if ("problem" in hash) return unusable(format, hash);
  return {
    format,
    kind: hash.kind,
    ...(hash.warning !== undefined && { warning: hash.warning }),
    matches: async (password) => isPossiblePassword(password) && hash.matches(Buffer.from(password)),
  };
}

function unusable(format: Encryption | undefined, reason: { problem: string } | { warning: string }): StoredPassword {
  return { format, kind: undefined, ...reason, matches: async () => false };
}
