import { createHash } from "node:crypto";
import { type PasswordFormat, sameBytes } from "./password-format.ts";

const digestBytes = 20;
const wholeHash = /^\{(S?)SHA\}([A-Za-z0-9+/]{27,}={0,2})$/i;

/** `{SHA}` of `htpasswd -s`, and `{SSHA}` of LDAP directories, where the salt stands behind the digest. */
export const sha1: PasswordFormat = {
  isMeant: /^\{S?SHA\}/i,
  read(text) {
    const [, salted = "", encoded = ""] = wholeHash.exec(text) ?? [];
    const decoded = Buffer.from(encoded, "base64");
    const digest = decoded.subarray(0, digestBytes);
    const salt = decoded.subarray(digestBytes);
    if (digest.length < digestBytes || salt.length > 0 !== (salted !== "")) {
      return { problem: "the SHA-1 hash is malformed" };
    }
    return {
      kind: "SHA-1",
      warning: "the password is stored as SHA-1, and billions of guesses a second can be tried: use bcrypt or argon2id",
      matches: async (password) => sameBytes(createHash("sha1").update(password).update(salt).digest(), digest),
    };
  },
};
