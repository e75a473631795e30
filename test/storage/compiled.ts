import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll } from "vitest";

const project = fileURLToPath(new URL("../..", import.meta.url));
/** Started by its name: no module imports it. */
const threadOfDisk = "src/storage/disk/write-thread.ts";
const run = promisify(execFile);

/** Compiles a module of this directory before the tests of a file; the function tells where the result is. */
export function compiled(module: string): () => string {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "filement-compiled-"));
    await writeFile(join(directory, "package.json"), '{"type":"module"}');
    await symlink(join(project, "node_modules"), join(directory, "node_modules"), "dir");
    const tsc = join(project, "node_modules", "typescript", "bin", "tsc");
    const options = ["--target", "es2023", "--module", "nodenext", "--rewriteRelativeImportExtensions", "--noCheck"];
    const places = ["--ignoreConfig", "--rootDir", project, "--outDir", directory];
    const sources = [join(project, "test", "storage", `${module}.ts`), join(project, threadOfDisk)];
    await run(process.execPath, [tsc, ...options, ...places, ...sources]);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return () => join(directory, "test", "storage", `${module}.js`);
}
