import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TimeSlice } from "../event-loop/sliced-work.ts";
import { filePath } from "../local-files/file-path.ts";

/** A text in quotes that begins like a path: what is imported, read or loaded by a path stands there. */
const quotedPath = /(["'`])((?:\.{1,2}\/|\/|file:)[^"'`\n\\]+)\1/g;

/** What `require` adds to a path, of a file or of a directory. */
const endings = ["", ".js", ".json", ".node", "/index.js", "/index.json", "/index.node", "/package.json"];

/** Most places that are looked at. More is generated code, which does not belong below a root. */
const maxPlaces = 5_000;
const maxSourceBytes = 5 * 1024 * 1024;

/**
 * The places on the disk from which Node takes the code of a module: the module, the files that it names by a path,
 * theirs in turn, and each `node_modules` and `package.json` above them. Some may be missing: a client that creates
 * them runs code as well. A name that is put together at run time is not seen.
 */
export async function moduleFiles(path: string): Promise<readonly string[]> {
  const found = new Set<string>([path]);
  const pending = [path];
  const read = new Set<string>();
  const slice = new TimeSlice();
  for (let next = pending.pop(); next !== undefined && read.size < maxPlaces; next = pending.pop()) {
    const real = await realpath(next).catch(() => next); // Node, too, takes imports from where a link leads
    if (read.has(real)) continue;
    read.add(real);
    const stats = await stat(real).catch(() => undefined); // it need not exist
    if (stats?.isDirectory()) continue; // a directory itself is not hidden: it may be the root
    for (const place of [next, real]) found.add(place);
    if (!stats?.isFile() || stats.size > maxSourceBytes) continue;
    for (const place of packagePlaces(real)) found.add(place);
    for (const [, , named = ""] of (await readFile(real, "utf8")).matchAll(quotedPath)) {
      if (slice.isOver) await slice.renew();
      const location = filePath(named, dirname(real));
      if (location === undefined) continue;
      const isFile = (await stat(location).catch(() => undefined))?.isFile(); // it need not exist
      pending.push(...(isFile ? [location] : endings.map((ending) => location + ending)));
    }
  }
  return [...found];
}

/** Node looks for a package in every directory above the module, and for its settings in the nearest `package.json`. */
function packagePlaces(path: string): string[] {
  const directory = dirname(path);
  if (directory === path) return [];
  return [join(directory, "package.json"), join(directory, "node_modules"), ...packagePlaces(directory)];
}
