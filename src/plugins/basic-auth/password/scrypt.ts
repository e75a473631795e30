import { type ScryptOptions, scrypt as scryptWithCallback } from "node:crypto";
import { promisify } from "node:util";
import { aboveCeiling, type PasswordFormat, sameBytes } from "./password-format.ts";

const maxMemoryMiB = 256;
const maxParallel = 16;
/** `p` runs one after the other: memory times `p` is the time, about a second and a half for this much. */
const maxWorkMiB = 512;

const wholeHash =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,4}),p=(\d{1,4})\$([A-Za-z0-9+/]{1,128})={0,2}\$([A-Za-z0-9+/]{22,86})={0,2}$/;

const derive: (password: Buffer, salt: Buffer, bytes: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scryptWithCallback);

/** `$scrypt$ln=15,r=8,p=1$salt$hash`: scrypt (RFC 7914) in the PHC string format, base64 without padding. */
export const scrypt: PasswordFormat = {
  isMeant: /^\$scrypt\$/,
  read(text) {
    const [, ln, r, p, salt = "", digest = ""] = wholeHash.exec(text) ?? [];
    const cost = 2 ** Number(ln);
    const blockSize = Number(r);
    const parallelization = Number(p);
    // RFC 7914 section 2: N is greater than 1 and less than 2 to the power of 16 r.
    const isMeaningful = cost > 1 && Number(ln) < 16 * blockSize && parallelization >= 1;
    if (!isMeaningful) return { problem: "the scrypt hash is malformed" };

    const memory = 128 * cost * blockSize;
    const problem = aboveCeiling("scrypt", [
      { name: "memory in MiB", value: inMiB(memory), ceiling: maxMemoryMiB },
      { name: "p", value: parallelization, ceiling: maxParallel },
      { name: "memory times p in MiB", value: inMiB(memory * parallelization), ceiling: maxWorkMiB },
    ]);
    if (problem !== undefined) return { problem };

    const expected = Buffer.from(digest, "base64");
    // Node's own limit is 32 MiB. OpenSSL counts two blocks for each of `p` and two more on top of the memory itself.
    const maxmem = memory + 128 * blockSize * (2 * parallelization + 2);
    const options = { cost, blockSize, parallelization, maxmem };
    return {
      kind: `scrypt, ln=${ln}, r=${r}, p=${p}`,
      async matches(password) {
        return sameBytes(await derive(password, Buffer.from(salt, "base64"), expected.length, options), expected);
      },
    };
  },
};

function inMiB(bytes: number): number {
  return Math.ceil(bytes / 1024 ** 2);
}
