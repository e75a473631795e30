import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a program prints as JSON, given a root and what to do there. */
export async function printedBy(
  script: string,
  root: string,
  what: string,
  flags: readonly string[] = [],
): Promise<unknown> {
  const { stdout } = await run(process.execPath, [...flags, script, root, what]);
  return JSON.parse(stdout);
}
