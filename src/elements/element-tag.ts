import { hash } from "node:crypto";

// No version of a stored file has a colon in it, so that no document ever has such a tag.
const prefix = "elements:";

/** 22 characters of base64 are 132 bits: no two contents ever share them by chance. */
const hashLength = 22;

/** The strong entity tag (RFC 9110 §8.8.3) of the elements that are answered with `content`. */
export function elementTag(content: Uint8Array): string {
  return `"${prefix}${hash("sha256", content as never, "base64url").slice(0, hashLength)}"`;
}
