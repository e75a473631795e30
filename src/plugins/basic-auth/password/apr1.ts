import { type PasswordFormat, sameBytes } from "./password-format.ts";

// Its types describe an ES module, which it is not. It hashes characters, so it gets one character for each byte.
type ApacheMd5 = (passwordBytes: string, hash: string) => string;

/** Loaded with the first such hash that is compared with. */
async function apacheMd5(passwordBytes: string, hash: string): Promise<string> {
  const { default: library } = (await import("apache-md5")) as unknown as { default: ApacheMd5 };
  return library(passwordBytes, hash);
}

/** `$apr1$`, the thousand rounds of MD5 that `htpasswd` makes unless told otherwise. One takes about a millisecond. */
export const apr1: PasswordFormat = {
  isMeant: /^\$apr1\$/,
  read(hash) {
    if (!/^\$apr1\$[!-#%-~]{0,8}\$[./0-9A-Za-z]{22}$/.test(hash)) return { problem: "the apr1 hash is malformed" };
    return {
      kind: "apr1",
      warning:
        "the password is stored as apr1 (MD5), and millions of guesses a second can be tried: use bcrypt or argon2id",
      matches: async (password) =>
        sameBytes(Buffer.from(await apacheMd5(password.toString("latin1"), hash)), Buffer.from(hash)),
    };
  },
};
