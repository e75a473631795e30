import { machineCode, missing } from "./machine-code.ts";
import { aboveCeiling, type PasswordFormat } from "./password-format.ts";

/** A cost of 14 is about a second of one core; each step more doubles it. */
const maxCost = 14;

/** Below this, passwords of a stolen file are found quickly. `htpasswd -B` uses 5 by default. */
const minWiseCost = 10;

/** bcrypt reads no more than this and says nothing about it. */
const maxPasswordBytes = 72;

// 22 characters of salt and 31 of digest. The last character of either has bits to spare, which are zero in whole
// hashes.
const wholeHash = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

const libraryName = "@node-rs/bcrypt";

/** `$2a$`, `$2b$` and `$2y$`, which mean the same today. `$2x$` is a broken variant, and is not accepted. */
export const bcrypt: PasswordFormat = {
  isMeant: /^\$2[aby]\$/,
  read(hash) {
    const cost = Number(wholeHash.exec(hash)?.[1]);
    if (!(cost >= 4)) return { problem: "the bcrypt hash is malformed" };
    const problem = aboveCeiling("bcrypt", [{ name: "cost", value: cost, ceiling: maxCost }]);
    if (problem !== undefined) return { problem };
    const library = machineCode<typeof import("@node-rs/bcrypt")>(libraryName);
    if (!library) return missing(libraryName);
    return {
      kind: `bcrypt, cost ${cost}`,
      ...(cost < minWiseCost && {
        warning: `the bcrypt hash has cost ${cost}: one of ${minWiseCost} or more resists a stolen file longer`,
      }),
      // Not by the first 72 bytes alone: a longer password would match along with all others that begin like it.
      matches: async (password) => password.length <= maxPasswordBytes && library.verify(password, hash),
    };
  },
};
