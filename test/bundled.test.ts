import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build as esbuild } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sample } from "./helpers/effort.ts";
import { filesBelow, projectRoot } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

const run = promisify(execFile);

/** What esbuild and tsup need before a module, where its packages are CommonJS: docs/bundling.md has it, too. */
const banner =
  'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';

/** An application with Filement and what that depends on, but no Redis and no S3: a bundler must not ask for them. */
let project = "";

beforeAll(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), "filement-bundled-")));
  const filement = join(project, "node_modules/filement");
  for (const path of ["package.json", "dist"]) {
    await cp(join(projectRoot, path), join(filement, path), { recursive: true });
  }
  const { dependencies } = JSON.parse(await readFile(join(projectRoot, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const link = join(project, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(projectRoot, "node_modules", name), link, "dir");
  }
  await cp(join(projectRoot, "test/helpers/bundled-application.mjs"), join(project, "app.mjs"));
  await writeFile(join(project, "package.json"), '{"type":"module"}');
});

afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs a bundle on its own, in a directory without any packages. */
async function repliesOf(bundle: string): Promise<string[]> {
  const directory = await temporaryDirectory();
  const alone = join(directory, bundle.endsWith(".cjs") ? "app.cjs" : "app.mjs");
  await cp(bundle, alone);
  await mkdir(join(directory, "site"));
  const { stdout } = await run(process.execPath, [alone, join(directory, "site")]);
  return stdout.trim().split("\n");
}

const javascript = "200 text/javascript; charset=utf-8 ";
const expected = [
  "PUT /a.html 201 application/json ",
  "POST /a.html 206 text/html; charset=utf-8 ",
  `GET /.well-known/filement/client.js ${javascript}`,
  `GET /.well-known/filement/listing.js ${javascript}`,
  `GET /.well-known/filement/markdown.js ${javascript}`,
  "GET / 200 text/html; charset=utf-8 ",
  "GET /?zip 200 application/zip ",
  "GET /metrics 200 text/plain; version=0.0.4; charset=utf-8 ",
  "GET /health 200 application/json ",
  "GET /a.html 401 application/json ",
  'invalid configuration: basicAuth: user "ada": the package @node-rs/bcrypt does not load: install it with its optional dependencies',
];

type Format = "esm" | "cjs";

const bundlers = {
  esbuild: async (format: Format, outfile: string) => {
    const options = { bundle: true, platform: "node", logLevel: "silent", minify: true } as const;
    const js = format === "esm" ? banner : "";
    const entryPoints = [join(project, "app.mjs")];
    const { warnings } = await esbuild({ ...options, entryPoints, format, outfile, banner: { js } });
    expect(warnings.map(({ text }) => text)).toEqual([]);
  },
  // Each bundler in a process of its own, where its compiled code can do no harm to tests.
  rolldown: async (format: Format, file: string) => {
    const command = join(projectRoot, "node_modules/.bin/rolldown");
    const options = ["--platform", "node", "--no-code-splitting", "--logLevel", "silent"];
    await run(command, ["app.mjs", "--format", format, "--file", file, ...options], { cwd: project });
  },
  tsup: async (format: Format, file: string) => {
    const js = JSON.stringify(format === "esm" ? banner : "");
    const settings = `entry: ["app.mjs"], format: "${format}", noExternal: [/./], splitting: false, banner: { js: ${js} }`;
    await writeFile(join(project, "tsup.config.mjs"), `export default { ${settings} };`);
    const env = { ...process.env, NODE_PATH: join(projectRoot, "node_modules") }; // it wants TypeScript
    await run("tsup", [], { cwd: project, env });
    await cp(join(project, "dist", format === "esm" ? "app.js" : "app.cjs"), file);
  },
};

/** Makes the bundle and gives what it answers. */
async function repliesWhenMadeBy(bundler: keyof typeof bundlers, format: Format): Promise<string[]> {
  const bundle = join(await temporaryDirectory(), `app.${format === "esm" ? "mjs" : "cjs"}`);
  await bundlers[bundler](format, bundle);
  return repliesOf(bundle);
}

describe("a bundled application works, alone in its directory, made", () => {
  const made: readonly [keyof typeof bundlers, Format][] = [
    ["esbuild", "esm"],
    ["esbuild", "cjs"],
    ["rolldown", "cjs"],
    ["rolldown", "esm"],
  ];

  it.each(sample(made, 2))("by %s as %s", async (bundler, format) => {
    expect(await repliesWhenMadeBy(bundler, format)).toEqual(expected);
  });

  it("by tsup in both", { tags: ["tsup"] }, async () => {
    expect(await repliesWhenMadeBy("tsup", "esm")).toEqual(expected);
    expect(await repliesWhenMadeBy("tsup", "cjs")).toEqual(expected);
  });

  it("by webpack and Turbopack, which look for their comments directly behind the bracket", async () => {
    const chunks = filesBelow("dist/chunks", ".js").map((file) => join(projectRoot, "dist/chunks", file));
    const code = await Promise.all(chunks.map((chunk) => readFile(chunk, "utf8")));
    expect(code.join("")).toMatch(/import\(\s*\/\* webpackIgnore: true \*\/\s*\/\* turbopackIgnore: true \*\//);
  });
});
