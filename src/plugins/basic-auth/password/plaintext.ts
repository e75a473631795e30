import { createHmac, randomBytes } from "node:crypto";
import { type PasswordHash, sameBytes } from "./password-format.ts";

/** The password itself, for users files that say so. */
export function plaintext(text: string): PasswordHash {
  // Digests are of one length, and comparing them tells nothing about the length of the password.
  const key = randomBytes(32);
  const digest = (password: string | Buffer): Buffer => createHmac("sha256", key).update(password).digest();
  const expected = digest(text);
  return {
    kind: "plaintext",
    warning: "the password is stored as plain text: everyone who can read the file knows it",
    matches: async (password) => sameBytes(digest(password), expected),
  };
}
