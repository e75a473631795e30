import { createHash, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import type { Encryption } from "./users.ts";

/** A stored password that others can be compared with. */
export interface PasswordHash {
  /** What decides how long a comparison takes: two hashes of one kind cost the same. */
  readonly kind: string;
  /** Why something else should be used. */
  readonly warning?: string;
  /** Whether the password, in UTF-8, is the one that was stored. */
  matches(password: Buffer): Promise<boolean>;
}

interface HashFormat {
  /** Tells texts that are meant to be of this format from all others. */
  readonly beginning: RegExp;
  /** Takes such a text apart, once; gives a text that says why it cannot be used. */
  read(text: string): PasswordHash | string;
}

/** Most memory for one password, in MiB. */
const maxMemory = 256;
/** Below this, passwords of a stolen file are found quickly. `htpasswd -B` uses 5 by default. */
const minWiseCost = 10;
/** bcrypt reads no more than this and says nothing about it. */
const maxBcryptBytes = 72;
const sha1Bytes = 20;

export const hashFormats: Readonly<Record<Exclude<Encryption, "plaintext">, HashFormat>> = {
  /** `$2a$`, `$2b$` and `$2y$`, which mean the same today. `$2x$` is a broken variant, and is not accepted. */
  bcrypt: {
    beginning: /^\$2[aby]\$/,
    read(hash) {
      // 22 characters of salt and 31 of digest. The last of either has bits to spare, which are zero in whole hashes.
      const whole = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;
      const cost = Number(whole.exec(hash)?.[1]);
      if (!(cost >= 4)) return "the bcrypt hash is malformed";
      // A cost of 14 is about a second of one core; each step more doubles it.
      const problem = aboveCeiling("bcrypt", ["cost", cost, 14]);
      if (problem !== undefined) return problem;
      const library = machineCode<typeof import("@node-rs/bcrypt")>("@node-rs/bcrypt");
      if (typeof library === "string") return library;
      const warning = `the bcrypt hash has cost ${cost}: one of ${minWiseCost} or more resists a stolen file longer`;
      return {
        kind: `bcrypt, cost ${cost}`,
        ...(cost < minWiseCost && { warning }),
        // Not by the first 72 bytes alone: a longer password would match along with all others that begin like it.
        matches: async (password) => password.length <= maxBcryptBytes && library.verify(password, hash),
      };
    },
  },

  /** `$argon2id$`, and the older `$argon2i$` and `$argon2d$` (RFC 9106). */
  argon2: {
    beginning: /^\$argon2(?:id|i|d)\$/,
    read(hash) {
      const library = machineCode<typeof import("@node-rs/argon2")>("@node-rs/argon2");
      if (typeof library === "string") return library;
      // The library reads parameters that need a secret, or occur twice, and then never matches.
      const whole = /^\$argon2(?:id|i|d)(?:\$v=(?:16|19))?\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/.test(
        hash,
      );
      const options = whole ? attempt(() => library.parseOptions(hash)) : undefined;
      if (!options) return "the argon2 hash is malformed";
      const { algorithm, memoryCost, timeCost, parallelism } = options;
      const memory = Math.ceil(memoryCost / 1024);
      const problem = aboveCeiling(
        "argon2",
        ["memory in MiB", memory, maxMemory],
        ["passes", timeCost, 10],
        ["threads", parallelism, 16],
      );
      return (
        problem ?? {
          kind: `argon2 ${algorithm}, m=${memoryCost}, t=${timeCost}, p=${parallelism}`,
          matches: (password) => library.verify(hash, password),
        }
      );
    },
  },

  /** `$scrypt$ln=15,r=8,p=1$salt$hash`: scrypt (RFC 7914) in the PHC string format, base64 without padding. */
  scrypt: {
    beginning: /^\$scrypt\$/,
    read(text) {
      const whole =
        /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,4}),p=(\d{1,4})\$([A-Za-z0-9+/]{1,128})={0,2}\$([A-Za-z0-9+/]{22,86})={0,2}$/;
      const [, ln, r, p, salt = "", digest = ""] = whole.exec(text) ?? [];
      const cost = 2 ** Number(ln);
      const blockSize = Number(r);
      const parallelization = Number(p);
      // RFC 7914 section 2: N is greater than 1 and less than 2 to the power of 16 r.
      const isMeaningful = cost > 1 && Number(ln) < 16 * blockSize && parallelization >= 1;
      if (!isMeaningful) return "the scrypt hash is malformed";
      const bytes = 128 * cost * blockSize;
      const memory = Math.ceil(bytes / 1024 ** 2);
      const problem = aboveCeiling(
        "scrypt",
        ["memory in MiB", memory, maxMemory],
        ["p", parallelization, 16],
        // `p` runs one after the other: this is the time, about a second and a half.
        ["memory times p in MiB", Math.ceil((bytes * parallelization) / 1024 ** 2), 512],
      );
      if (problem !== undefined) return problem;
      const expected = Buffer.from(digest, "base64");
      // Node's own limit is 32 MiB. OpenSSL counts two blocks for each of `p` and two more on top of the memory itself.
      const maxmem = bytes + 128 * blockSize * (2 * parallelization + 2);
      const options = { cost, blockSize, parallelization, maxmem };
      return {
        kind: `scrypt, ln=${ln}, r=${r}, p=${p}`,
        async matches(password) {
          return isSame(await derive(password, Buffer.from(salt, "base64"), expected.length, options), expected);
        },
      };
    },
  },

  /** `$apr1$`, the thousand rounds of MD5 that `htpasswd` makes by default. One takes about a millisecond. */
  apr1: {
    beginning: /^\$apr1\$/,
    read(hash) {
      if (!/^\$apr1\$[!-#%-~]{0,8}\$[./0-9A-Za-z]{22}$/.test(hash)) return "the apr1 hash is malformed";
      return {
        kind: "apr1",
        warning:
          "the password is stored as apr1 (MD5), and millions of guesses a second can be tried: use bcrypt or argon2id",
        async matches(password) {
          // Its types describe an ES module, which it is not. It hashes characters, so it gets one for each byte.
          const { default: library } = (await import("apache-md5")) as unknown as { default: ApacheMd5 };
          return isSame(Buffer.from(library(password.toString("latin1"), hash)), Buffer.from(hash));
        },
      };
    },
  },

  /** `{SHA}` of `htpasswd -s`, and `{SSHA}` of LDAP directories, where the salt stands behind the digest. */
  sha1: {
    beginning: /^\{S?SHA\}/i,
    read(text) {
      const [, salted = "", encoded = ""] = /^\{(S?)SHA\}([A-Za-z0-9+/]{27,}={0,2})$/i.exec(text) ?? [];
      const decoded = Buffer.from(encoded, "base64");
      const digest = decoded.subarray(0, sha1Bytes);
      const salt = decoded.subarray(sha1Bytes);
      const isWhole = digest.length === sha1Bytes && salt.length > 0 === (salted !== "");
      if (!isWhole) return "the SHA-1 hash is malformed";
      return {
        kind: "SHA-1",
        warning:
          "the password is stored as SHA-1, and billions of guesses a second can be tried: use bcrypt or argon2id",
        matches: async (password) => isSame(createHash("sha1").update(password).update(salt).digest(), digest),
      };
    },
  },
};

type ApacheMd5 = (passwordBytes: string, hash: string) => string;

const derive: (password: Buffer, salt: Buffer, bytes: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);

/**
 * Names the parameter of a hash that takes too much work, if one does. A single hash in a users file could otherwise
 * stop the server: argon2 has parameters that take terabytes, bcrypt a cost that takes a day.
 */
function aboveCeiling(
  format: string,
  ...costs: readonly (readonly [name: string, value: number, ceiling: number])[]
): string | undefined {
  const [name, value, ceiling] = costs.find(([, value, ceiling]) => value > ceiling) ?? [];
  return name && `the ${format} hash has ${name} ${value}: expected at most ${ceiling}`;
}

/**
 * A package of machine code, which takes a while to load: not before there is a hash for it. No bundler can take it
 * along, so it is looked for where the program lies. A text says why it cannot be had.
 */
function machineCode<Library>(name: string): Library | string {
  const library = attempt(() => createRequire(import.meta.url ?? __filename)(name) as Library); // no `url` in CommonJS
  return library ?? `the package ${name} does not load: install it with its optional dependencies`;
}

function attempt<Result>(task: () => Result): Result | undefined {
  try {
    return task();
  } catch {
    return undefined; // the errors of these packages say no more
  }
}

/** Compares two digests in a time that does not tell how much of them is alike. Their length is no secret. */
export function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
