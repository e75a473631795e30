import { machineCode, missing } from "./machine-code.ts";
import { aboveCeiling, type PasswordFormat } from "./password-format.ts";

const libraryName = "@node-rs/argon2";
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
    const library = machineCode<Library>(libraryName);
    if (!library) return missing(libraryName);
    const options = wholeHash.test(hash) ? optionsOf(library, hash) : undefined;
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
      matches: (password) => library.verify(hash, password),
    };
  },
};

type Library = typeof import("@node-rs/argon2");

function optionsOf({ parseOptions }: Library, hash: string): ReturnType<Library["parseOptions"]> | undefined {
  try {
    return parseOptions(hash);
  } catch {
    return undefined; // it says no more than "Decoding failed"
  }
}
