import { readFile, realpath, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { TimeSlice } from "../event-loop/sliced-work.ts";

/** A text in quotes that begins like a path: what is imported, read or loaded by a path stands there. */
const quotedPath = /(["'`])((?:\.{1,2}\/|\/|file:)[^"'`\n\\]+)\1/g;
/** The name of a package in an `import`, an `export` or a `require`. */
const packageName = /\b(?:from|import|require)\s*\(?\s*(["'`])(#?[@\w][\w@/.-]*)\1/g;

/** What `require` adds to a path that does not exist, and to a directory. */
const endings = ["", ".js", ".json", ".node"];
const ofDirectory = ["index.js", "index.json", "index.node", "package.json"];
const sources = new Set(["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"]);

/** Most files of a module and of what it imports. More is generated code, which does not belong below a root. */
const maxFiles = 1_000;
const maxSourceBytes = 5 * 1024 * 1024;

/**
 * The places on the disk from which Node takes the code of a module: the module, the files that it names by a path,
 * theirs in turn, and each `node_modules` and `package.json` that decides about a package by its name. Some of them may
 * be missing: a client that creates them runs code as well. A name that is put together at run time is not seen.
 */
export async function moduleFiles(path: string): Promise<readonly string[]> {
  const found = new Set<string>([path]);
  const pending = [path];
  const read = new Set<string>();
  const slice = new TimeSlice();
  for (let next = pending.pop(); next !== undefined && read.size < maxFiles; next = pending.pop()) {
    const real = await realpath(next).catch(() => undefined); // Node, too, takes imports from where a link leads
    if (real === undefined || read.has(real)) continue;
    read.add(real);
    found.add(real);
    const source = sources.has(extname(real)) ? await sourceOf(real) : undefined;
    if (source === undefined) continue;
    for (const place of packagePlaces(source, real)) found.add(place);
    for (const named of pathsNamed(source, dirname(real))) {
      if (slice.isOver) await slice.renew();
      const candidates = await candidatesFor(named);
      for (const candidate of candidates) found.add(candidate);
      pending.push(...candidates);
    }
  }
  return [...found];
}

/** The files that Node may load for a path. A directory itself is not hidden: it may be the root. */
async function candidatesFor(path: string): Promise<readonly string[]> {
  const stats = await stat(path).catch(() => undefined); // it need not exist
  if (stats?.isDirectory()) return ofDirectory.map((name) => join(path, name));
  return stats ? [path] : endings.map((ending) => path + ending);
}

async function sourceOf(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined); // a directory, or gone
  return stats?.isFile() && stats.size <= maxSourceBytes ? await readFile(path, "utf8") : undefined;
}

function pathsNamed(source: string, directory: string): string[] {
  return [...source.matchAll(quotedPath)].flatMap(([, , text = ""]) => {
    return (text.startsWith("file:") ? pathOfUrl(text) : resolve(directory, text)) ?? [];
  });
}

function pathOfUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined; // it is only a text that looks like a URL
  }
}

/** Node looks for a package in every directory above the module, and for its settings in the nearest `package.json`. */
function packagePlaces(source: string, path: string): string[] {
  const names = [...source.matchAll(packageName)].map(([, , name = ""]) => name);
  const isPackage = names.some((name) => !isBuiltin(name));
  const places: string[] = [];
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    places.push(join(directory, "package.json"));
    if (isPackage) places.push(join(directory, "node_modules"));
    if (directory === dirname(directory)) return places;
  }
}
