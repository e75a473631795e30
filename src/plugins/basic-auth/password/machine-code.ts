import { createRequire } from "node:module";

/**
 * A package of machine code, which takes a while to load: not before there is a hash for it. No bundler can take it
 * along, so it is looked for where the program lies. `undefined` where it is not installed.
 */
export function machineCode<Library>(name: string): Library | undefined {
  try {
    return createRequire(import.meta.url ?? __filename)(name) as Library; // no `url` in a bundle of CommonJS
  } catch {
    return undefined;
  }
}

/** Why a hash cannot be compared with where its package is missing. */
export function missing(name: string): { readonly problem: string } {
  return { problem: `the package ${name} does not load: install it with its optional dependencies` };
}
