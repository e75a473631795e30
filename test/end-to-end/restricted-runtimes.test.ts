import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { permissionFlag } from "../helpers/permission-flag.ts";
import { projectRoot } from "../helpers/source-files.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const run = promisify(execFile);
const program = join(projectRoot, "test/helpers/restricted-program.mjs");

const replies = [
  "PUT /a.html 201 content",
  "POST /a.html 206 content",
  "POST /a.html 200 content",
  "GET /a.html 200 content",
  "GET / 200 content",
  "GET /.well-known/filement/listing.js 200 content",
  "DELETE /a.html 204 nothing",
];

async function repliesOf(command: string, ...args: readonly string[]): Promise<string[]> {
  const { stdout } = await run(command, args, { env: { ...process.env, NODE_OPTIONS: "" } });
  return stdout.trim().split("\n");
}

const readable = `--allow-fs-read=${projectRoot}`;

describe("with rights to nothing but its own files, Filement", () => {
  it("serves the memory in Node", async () => {
    expect(await repliesOf(process.execPath, permissionFlag, readable, program)).toEqual(replies);
  });

  it("serves the directory that Node lets it read and write", async () => {
    const root = await temporaryDirectory();
    const rights = [permissionFlag, readable, `--allow-fs-read=${root}`, `--allow-fs-write=${root}`];
    expect(await repliesOf(process.execPath, ...rights, program, root, "rename")).toEqual(replies);
    const [first] = await repliesOf(process.execPath, ...rights, program, root, "fsync");
    expect(first).toMatch(process.versions.node < "26" ? "PUT /a.html 201" : /durability: .* syncs no file/);
  });

  it("serves the memory in Deno", { tags: ["deno"] }, async () => {
    const rights = ["--no-prompt", program];
    expect(await repliesOf("deno", "run", ...rights)).toEqual(replies);
  });

  it("serves the directory that Deno lets it read and write", { tags: ["deno"] }, async () => {
    const root = await temporaryDirectory();
    const rights = ["--no-prompt", `--allow-read=${projectRoot},${root}`, `--allow-write=${root}`];
    expect(await repliesOf("deno", "run", ...rights, program, root)).toEqual(replies);
  });
});

describe("where Yarn's Plug'n'Play stands between a program and the disk, Filement", () => {
  it("serves a directory", async () => {
    const yarn = join(projectRoot, "test/helpers/fs-of-yarn.mjs");
    const root = await temporaryDirectory();
    expect(await repliesOf(process.execPath, "--import", yarn, program, root)).toEqual(replies);
  });
});
