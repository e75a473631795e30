import { createHash, hash } from "node:crypto";
import { TimeSlice } from "../../../event-loop/sliced-work.ts";
import { HashQueue } from "../hash-queue.ts";
import { aboveCeiling, type PasswordFormat, sameBytes } from "./password-format.ts";

type Algorithm = "sha256" | "sha512";

const defaultRounds = 5000;
/** `crypt` makes no hash with fewer rounds. */
const minRounds = 1000;
/** About 200 ms of processor time, on the event loop. */
const maxRounds = 100_000;

/** Rounds between two looks at the clock: a fraction of a millisecond even for the longest passwords. */
const roundsPerLook = 32;

/** Each hash gives way in time; two at once would still hold the event loop for two slices per turn. */
const oneByOne: HashQueue = new HashQueue({ concurrency: 1, maxQueued: Number.POSITIVE_INFINITY });

/** `$5$`, SHA-256 crypt, of `htpasswd -2` and Linux password files. */
export const sha256Crypt: PasswordFormat = shaCryptFormat(
  "sha256",
  /^\$5\$/,
  /^\$5\$(?:rounds=([1-9]\d{3,8})\$)?([!-#%-9;-~]{0,16})\$([./0-9A-Za-z]{43})$/,
);

/** `$6$`, SHA-512 crypt, of `htpasswd -5` and Linux password files. */
export const sha512Crypt: PasswordFormat = shaCryptFormat(
  "sha512",
  /^\$6\$/,
  /^\$6\$(?:rounds=([1-9]\d{3,8})\$)?([!-#%-9;-~]{0,16})\$([./0-9A-Za-z]{86})$/,
);

function shaCryptFormat(algorithm: Algorithm, isMeant: RegExp, wholeHash: RegExp): PasswordFormat {
  return {
    isMeant,
    read(text) {
      const [, givenRounds, salt, digest] = wholeHash.exec(text) ?? [];
      const rounds = Number(givenRounds ?? defaultRounds);
      if (salt === undefined || digest === undefined || rounds < minRounds) {
        return { problem: `the ${algorithm} hash is malformed` };
      }
      const problem = aboveCeiling(algorithm, [{ name: "rounds", value: rounds, ceiling: maxRounds }]);
      if (problem !== undefined) return { problem };
      return {
        kind: `${algorithm}, ${rounds} rounds`,
        async matches(password) {
          const actual = await oneByOne.run(() => shaCrypt(algorithm, password, salt, rounds));
          return sameBytes(Buffer.from(actual), Buffer.from(digest));
        },
      };
    },
  };
}

/**
 * The digest that SHA-256 and SHA-512 crypt make of a password, in the alphabet of `crypt`. Follows Ulrich Drepper's
 * "Unix crypt using SHA-256 and SHA-512"; the names below are those of its steps. `salt` has 16 bytes at most.
 */
export async function shaCrypt(algorithm: Algorithm, password: Buffer, salt: string, rounds: number): Promise<string> {
  const saltBytes = Buffer.from(salt);
  const first = firstDigest(algorithm, password, saltBytes);
  const p = repeated(digestOfRepeated(algorithm, password, password.length), password.length);
  const s = repeated(digestOfRepeated(algorithm, saltBytes, 16 + (first[0] ?? 0)), saltBytes.length);

  let c = first;
  const slice = new TimeSlice();
  for (let round = 0; round < rounds; round++) {
    if (round % roundsPerLook === 0 && slice.isOver) await slice.renew();
    const isOdd = round % 2 === 1;
    const parts = [isOdd ? p : c];
    if (round % 3 !== 0) parts.push(s);
    if (round % 7 !== 0) parts.push(p);
    parts.push(isOdd ? c : p);
    c = hash(algorithm, Buffer.concat(parts), "buffer");
  }
  return encoded(c);
}

// Steps 1 to 12: digest A, into which digest B and the password go by the bits of the password's length.
function firstDigest(algorithm: Algorithm, password: Buffer, salt: Buffer): Buffer {
  const b = createHash(algorithm).update(password).update(salt).update(password).digest();
  const a = createHash(algorithm).update(password).update(salt).update(repeated(b, password.length));
  for (let bits = password.length; bits > 0; bits >>= 1) a.update(bits % 2 === 1 ? b : password);
  return a.digest();
}

// Steps 13 to 20: digests DP and DS.
function digestOfRepeated(algorithm: Algorithm, bytes: Buffer, times: number): Buffer {
  const digest = createHash(algorithm);
  for (let i = 0; i < times; i++) digest.update(bytes);
  return digest.digest();
}

function repeated(bytes: Buffer, length: number): Buffer {
  return Buffer.alloc(length, bytes);
}

const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// Step 22. Three bytes at a time, one from each third of the digest; with each group, the thirds change places.
function encoded(digest: Buffer): string {
  const third = Math.floor(digest.length / 3);
  const is256 = digest.length === 32;
  let group: readonly [number, number, number] = [0, third, 2 * third];
  let text = "";
  for (let i = 0; i < third; i++) {
    text += characters(digest, group, 4);
    const [x, y, z] = group;
    group = is256 ? [z + 1, x + 1, y + 1] : [y + 1, z + 1, x + 1];
  }
  return text + (is256 ? characters(digest, [-1, 31, 30], 3) : characters(digest, [-1, -1, 63], 2));
}

function characters(digest: Buffer, group: readonly number[], count: number): string {
  let bits = group.reduce((sum, index) => sum * 256 + (digest[index] ?? 0), 0);
  let text = "";
  for (let i = 0; i < count; i++) {
    text += alphabet[bits % 64];
    bits = Math.floor(bits / 64);
  }
  return text;
}
