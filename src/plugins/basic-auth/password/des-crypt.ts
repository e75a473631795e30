import { createRequire } from "node:module";
import type { PasswordFormat } from "./password-format.ts";
import { sameBytes } from "./same-bytes.ts";

// It comes without types.
const unixCrypt: (password: readonly number[], salt: string) => string = createRequire(import.meta.url)(
  "unix-crypt-td-js",
);

/**
 * The 13 characters of traditional `crypt`, as `htpasswd -d` writes them. The first eight bytes of a password count,
 * and of each byte seven bits; whoever stored a longer password can only be let in by accepting whatever begins the
 * same.
 */
export const desCrypt: PasswordFormat = {
  isMeant: /^[./0-9A-Za-z]{13}$/,
  read(hash) {
    return {
      kind: "crypt",
      warning: "the password is stored by DES crypt, which sees its first 8 characters only: use bcrypt or argon2id",
      matches: async (password) =>
        sameBytes(Buffer.from(unixCrypt([...password.subarray(0, 8)], hash.slice(0, 2))), Buffer.from(hash)),
    };
  },
};
