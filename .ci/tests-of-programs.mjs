// Prints the test files that start a program, or import a helper that does: only for these it matters what is on the `PATH`.
// Git is on every `PATH`, and Node is started by its own path: what starts only these, as the library does, is left out.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const directory = join(root, "test");

const browsers = ["playwright-core", "puppeteer-core"];
const alwaysThere = ["process.execPath", '"git"'];

/** @type {Map<string, { imports: readonly string[], isStarter: boolean }>} */
const known = new Map();

/** @param {string} file */
function read(file) {
  const text = readFileSync(file, "utf8");
  const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name = ""]) => name);
  const isStarter = imports.some((name) => browsers.includes(name)) || startsOthers(text);
  const found = { imports, isStarter };
  known.set(file, found);
  return found;
}

/**
 * Whether a program is started that may be missing; any other way to start one than these four by their names might.
 *
 * @param {string} text
 */
function startsOthers(text) {
  const [, names = ""] = /import \{([^}]*)\} from "node:child_process"/.exec(text) ?? [];
  if (!text.includes('"node:child_process"')) return false;
  const calls = [...text.matchAll(/\b(?:spawn|execFile)(?:Sync)?\(\s*([^,)\s]+)/g)].map(([, program = ""]) => program);
  const isPlain = /^(?:\s*(?:type \w+|(?:spawn|execFile)(?:Sync)?)\s*,?)+$/.test(names) && !text.includes("promisify");
  return !isPlain || calls.length === 0 || !calls.every((program) => alwaysThere.includes(program));
}

/**
 * @param {string} file
 * @param {Set<string>} seen files on the way to it
 * @returns {boolean}
 */
function startsPrograms(file, seen = new Set()) {
  seen.add(file);
  const { imports, isStarter } = known.get(file) ?? read(file);
  if (isStarter) return true;
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
