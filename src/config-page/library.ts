import { basename } from "node:path";
import { filePath } from "../local-files/file-path.ts";

/** What a configuration page can name by a shared library, as the interface specification does. */
export const bundledNames = [
  "access-log",
  "authorization",
  "basic-auth",
  "cors",
  "directory",
  "error-pages",
  "event-stream",
  "file-handler",
  "health-check",
  "history",
  "mcp",
  "metrics",
  "rate-limit",
  "redirects",
  "security-headers",
  "selector-handler",
  "websocket",
] as const;

export type BundledName = (typeof bundledNames)[number];

export type Library =
  | { readonly kind: "bundled"; readonly name: BundledName }
  | { readonly kind: "module"; readonly path: string }
  /** A shared library without a bundled plugin of its name. Node cannot load it. */
  | { readonly kind: "unknown" };

const sharedLibrary = /\.(?:so|dylib|dll)(?:\.\d+)*$/i;

/** Reads a `library` location: a shared library names a bundled plugin, any other file is an ES module. */
export function readLibrary(location: string, directory: string): Library | undefined {
  const path = filePath(location, directory);
  if (path === undefined) return undefined;
  const plain = plainName(path);
  const name = bundledNames.find((each) => each === plain);
  if (name) return { kind: "bundled", name };
  return sharedLibrary.test(path) ? { kind: "unknown" } : { kind: "module", path };
}

export function plainName(location: string): string {
  return basename(location)
    .replace(sharedLibrary, "")
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/^lib/, "")
    .replace(/^(?:filement|rusty-beam)-/, "")
    .replace(/^web-socket$/, "websocket");
}
