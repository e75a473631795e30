import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** Makes a directory with some files for the test that is running, removed with all it holds when that has finished. */
export async function temporaryDirectory(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const path = await mkdtemp(join(await realpath(tmpdir()), "filement-test-"));
  // A git whose server was killed may write into it for another moment.
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return path;
}
