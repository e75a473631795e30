import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Makes an empty directory for the test that is running, removed with all it holds when that has finished. */
export async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(await realpath(tmpdir()), "filement-test-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}
