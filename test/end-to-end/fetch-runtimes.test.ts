import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const run = promisify(execFile);
const program = join(projectRoot, "test/helpers/fetch-runtime.mjs");
const filement = join(projectRoot, "dist/index.js");

/** What the program prints in a runtime: the replies to its requests, without the tags of files. */
async function repliesIn(command: string, ...options: readonly string[]): Promise<string[]> {
  const root = join(await temporaryDirectory(), "site");
  for (const folder of ["folder", "private"]) await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, "page.html"), "<ul><li>One</li><li>Two</li></ul>");
  await writeFile(join(root, "private", "a.txt"), "secret");
  const { stdout } = await run(command, [...options, program, filement, root], {
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  return stdout
    .replace(/("etag":)"[^}]*/g, "$1")
    .trim()
    .split("\n");
}

/** What Node answers in-process, which the tests of everything else are about. */
const expected = (): Promise<string[]> => repliesIn(process.execPath);

describe("files.fetch in another runtime", () => {
  it("answers as in Node: Bun", { tags: ["campaign", "bun"] }, async () => {
    expect(await repliesIn("bun", "run")).toEqual(await expected());
  });

  it("answers as in Node: Deno", { tags: ["campaign", "deno"] }, async () => {
    expect(await repliesIn("deno", "run", "--allow-all")).toEqual(await expected());
  });
});
