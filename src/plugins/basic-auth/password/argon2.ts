import { createRequire } from "node:module";
import { aboveCeiling, type PasswordFormat } from "./password-format.ts";

const maxMemoryMiB = 256;
const maxPasses = 10;
const maxThreads = 16;

// The library reads parameters that need a secret, or occur twice, and then never matches; no tool for passwords writes
// them.
const wholeHash = /^\$argon2(?:id|i|d)(?:\$v=(?:16|19))?\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;

/** `$argon2id$`, and the older `$argon2i$` and `$argon2d$` (RFC 9106). */
export const argon2: PasswordFormat = {
  isMeant: /^\$argon2(?:id|i|d)\$/,
  read(hash) {
    const options = wholeHash.test(hash) ? optionsOf(hash) : undefined;
    if (options === undefined) return { problem: "the argon2 hash is malformed" };
    const { algorithm, memoryCost, timeCost, parallelism } = options;
    const problem = aboveCeiling("argon2", [
      { name: "memory in MiB", value: Math.ceil(memoryCost / 1024), ceiling: maxMemoryMiB },
      { name: "passes", value: timeCost, ceiling: maxPasses },
      { name: "threads", value: parallelism, ceiling: maxThreads },
    ]);
    if (problem !== undefined) return { problem };
    return {
      kind: `argon2 ${algorithm}, m=${memoryCost}, t=${timeCost}, p=${parallelism}`,
      matches: (password) => argon2Library().verify(hash, password),
    };
  },
};

type Library = typeof import("@node-rs/argon2");

let library: Library | undefined;

/** Machine code, which takes a while to load: only where there is such a hash. Hashes are read synchronously. */
function argon2Library(): Library {
  library ??= createRequire(import.meta.url)("@node-rs/argon2") as Library;
  return library;
}

function optionsOf(hash: string): ReturnType<Library["parseOptions"]> | undefined {
  const { parseOptions } = argon2Library();
  try {
    return parseOptions(hash);
  } catch {
    return undefined; // it says no more than "Decoding failed"
  }
}
