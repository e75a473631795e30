// Prints the test files that start a program, or import a helper that does: only for these it matters what is on the `PATH`.
// What the library starts is left out: that is git, which is on every `PATH`.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const directory = join(root, "test");

const starters = ["node:child_process", "playwright-core", "puppeteer-core"];

/** @type {Map<string, readonly string[]>} */
const importsByFile = new Map();

/** @param {string} file */
function importsOf(file) {
  const known = importsByFile.get(file);
  if (known) return known;
  const imports = [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    ([, name = ""]) => name,
  );
  importsByFile.set(file, imports);
  return imports;
}

/**
 * @param {string} file
 * @param {Set<string>} seen files on the way to it
 * @returns {boolean}
 */
function startsPrograms(file, seen = new Set()) {
  seen.add(file);
  const imports = importsOf(file);
  if (imports.some((name) => starters.includes(name))) return true;
  const files = imports.filter((name) => name.startsWith(".")).map((name) => join(dirname(file), name));
  return files.some(
    (each) => each.startsWith(directory) && !seen.has(each) && isFile(each) && startsPrograms(each, seen),
  );
}

/** @param {string} path */
const isFile = (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

const names = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: "utf8" }) : [];
const files = names.filter((name) => name.endsWith(".test.ts")).map((name) => join(directory, name));
console.log(
  files
    .filter((file) => startsPrograms(file))
    .map((file) => relative(root, file))
    .sort()
    .join("\n"),
);
