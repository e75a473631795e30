import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Makes an empty directory for the test that is running, removed with all it holds when that has finished. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(await realpath(tmpdir()), "filement-test-"));
  // A git whose server was killed may write into it for another moment.
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}
