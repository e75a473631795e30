import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, cp, mkdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { version } from "../src/server/version.ts";
import { relativeLinks } from "./helpers/markdown-links.ts";
import { type RunningNode, runNode, runNodeToEnd } from "./helpers/run-node.ts";
import { filesBelow, projectRoot } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly keywords: readonly string[];
  readonly license: string;
  readonly scripts: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

interface LockFile {
  readonly packages: Record<string, Manifest & { readonly resolved?: string }>;
}

const json = (file: string): unknown => JSON.parse(readFileSync(join(projectRoot, file), "utf8"));
const manifest = json("package.json") as Manifest;
const lock = json("package-lock.json") as LockFile;

/** Runs a command to its end, whatever its exit status. */
function run(command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(command, args, { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr });
    });
  });
}

/** A program of a shell script, for a `PATH`. */
async function writeProgram(path: string, ...lines: readonly string[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  await chmod(path, 0o755);
}

/** A project into which the packed library was unpacked, beside the dependencies it declares and `@types/node`. */
async function consumer(): Promise<{ directory: string; packed: string[] }> {
  const directory = await temporaryDirectory();
  const pack = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", directory], projectRoot);
  const [{ filename, files }] = JSON.parse(pack.stdout);
  const library = join(directory, "node_modules/filement");
  await mkdir(library, { recursive: true });
  execFileSync("tar", ["-xf", join(directory, filename), "-C", library, "--strip-components=1"]);
  for (const name of [...Object.keys(manifest.dependencies), "@types/node", "undici-types"]) {
    const link = join(directory, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(projectRoot, "node_modules", name), link);
  }
  return { directory, packed: files.map(({ path }: { path: string }) => path) };
}

describe("the packed library", () => {
  it("holds what was compiled from the source, the documents a package has, and nothing else", async () => {
    const { packed } = await consumer();
    const compiled = filesBelow("src", ".ts").flatMap((file) => {
      const name = `dist/${file.replace(/\.ts$/, "")}`;
      const isBundled = file.startsWith("client/") && file !== "client/client.ts";
      return isBundled ? [`${name}.d.ts`] : [`${name}.js`, `${name}.d.ts`];
    });
    const pages = ["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "package.json"];
    const docs = filesBelow("docs", "").map((file) => `docs/${file}`);
    const examples = filesBelow("examples", "").map((file) => `examples/${file}`);
    expect(packed.sort()).toEqual([...pages, ...docs, ...examples, ...compiled].sort());
  });

  it("holds every file and folder that its pages link to", async () => {
    const { directory, packed } = await consumer();
    const pages = packed.filter((path) => path.endsWith(".md"));
    const library = join(directory, "node_modules/filement");
    const links = pages.flatMap((page) => relativeLinks(page, readFileSync(join(library, page), "utf8")));
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ target }) => !existsSync(join(library, target)))).toEqual([]);
  });

  it("has a description, keywords and a licence, as people who search for it need", () => {
    expect(manifest.description).toMatch(/^.{40,200}$/);
    expect(manifest.keywords).toEqual([...new Set(manifest.keywords)]);
    expect(manifest.keywords).toEqual(expect.arrayContaining(["file-server", "css-selector", "express"]));
    expect(manifest.license).toBe("MIT");
  });

  it("can be imported, and required where Node can require modules", async () => {
    const { directory } = await consumer();
    const imported = "const { createFileServer } = await import('filement'); console.log(typeof createFileServer)";
    expect(await run("node", ["--input-type=module", "-e", imported], directory)).toMatchObject({
      stdout: "function\n",
    });
    const required = "console.log(typeof require('filement').createFileServer)";
    expect(await run("node", ["-e", required], directory)).toMatchObject({ stdout: "function\n" });
  });

  it("has types that hold without skipLibCheck, and without any package beside its own and Node's types", async () => {
    const { directory } = await consumer();
    await writeFile(
      join(directory, "program.ts"),
      `import { createServer } from "node:http";
       import { createFileServer, memoryStorage, type Plugin } from "filement";
       const plugin: Plugin = { name: "mine", handle: (exchange, next) => next() };
       const files = createFileServer({ storage: memoryStorage({ "/a": "b" }), plugins: [plugin] });
       createServer(files).on("upgrade", files.upgrade);
       const status: Promise<number> = files.fetch(new Request("http://x/a")).then((response) => response.status);
       void status;`,
    );
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--lib", "es2023"];
    const tsc = join(projectRoot, "node_modules/.bin/tsc");
    const { code, stdout } = await run(tsc, [...options, "--types", "node", "program.ts"], directory);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  });

  it("has a command that npm can put on the path", async () => {
    const { directory } = await consumer();
    const cli = join(directory, "node_modules/filement/dist/cli.js");
    expect(await readFile(cli, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    const { version } = json("package.json") as { version: string };
    expect(await run("node", [cli, "--version"], directory)).toMatchObject({ code: 0, stdout: `${version}\n` });
  });
});

describe("package.json and package-lock.json", () => {
  it("have the version that the program tells", () => {
    expect(version).toBe(manifest.version);
  });

  it("declare what the source imports, and nothing that it does not", () => {
    const imported = filesBelow("src", ".ts").flatMap((file) => {
      const source = readFileSync(join(projectRoot, "src", file), "utf8");
      const names = source.matchAll(
        /(?:^(?:import|export)[^;]*? from |createRequire\(import\.meta\.url\)\(\s*)"(?!node:|\.)((?:@[^/"]+\/)?[^/"]+)/gm,
      );
      return [...names].map(([, name]) => name);
    });
    expect([...new Set(imported)].sort()).toEqual(Object.keys(manifest.dependencies).sort());
  });

  it("agree with each other, as npm ci demands", () => {
    const { dependencies, devDependencies } = lock.packages[""] ?? {};
    expect({ dependencies, devDependencies }).toEqual({
      dependencies: manifest.dependencies,
      devDependencies: manifest.devDependencies,
    });
  });

  it("lock the packages of every platform, as npm ci demands, also those that this one has no use for", () => {
    const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
      ),
    );
    expect(missing).toEqual([]);
  });

  it("leave it to each machine where packages come from", () => {
    const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
      cwd: projectRoot,
    });
    const registryHost = /registry[.](?:npmjs|yarnpkg)|npmjs[.]org|npmmirror[.]|jsr[.]io/i;
    const naming = tracked
      .toString()
      .trim()
      .split("\n")
      .filter((file) => existsSync(join(projectRoot, file))) // git still lists what was just deleted
      .filter((file) => registryHost.test(readFileSync(join(projectRoot, file), "utf8")));
    expect(naming).toEqual([]);
    expect(Object.values(lock.packages).filter(({ resolved }) => resolved?.includes("://"))).toEqual([]);
  });
});

describe("npm test", () => {
  it("checks types, lint and packaging before it runs the tests, and hands its arguments on to vitest", async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, "say.mjs"), "console.log(...process.argv.slice(2));");
    const steps = ["types", "lint", "package", "unit"];
    const replaced = Object.fromEntries(steps.map((name) => [name, `node say.mjs ${name}`]));
    const scripts = { test: manifest.scripts["test"], ...replaced };
    await writeFile(join(directory, "package.json"), JSON.stringify({ scripts }));
    const { stdout } = await run("npm", ["test", "--silent", "--", "--reporter=dot", "a b"], directory);
    expect(stdout).toBe("types\nlint\npackage\nunit --reporter=dot a b\n");
  });

  it.each(["prestart", "pretest", "prebench"])("installs and builds first: %s", (script) => {
    expect(manifest.scripts[script]).toBe("npm run -s ready && npm run -s build");
    expect(manifest.scripts["ready"]).toBe("node .ci/install-if-needed.mjs");
  });
});

describe(".ci/install-if-needed.mjs", () => {
  /** A checkout in which `npm` only notes what it was told, and installs as far as the test says. */
  async function checkout(...npm: readonly string[]) {
    const directory = await temporaryDirectory();
    await cp(join(projectRoot, ".ci"), join(directory, ".ci"), { recursive: true });
    await writeFile(join(directory, "package-lock.json"), "{}");
    await writeProgram(join(directory, "bin/npm"), 'echo "$@" >> npm.log', ...npm);
    const env = { PATH: `${directory}/bin:${process.env["PATH"]}` };
    const start = (): RunningNode => runNode([".ci/install-if-needed.mjs"], { cwd: directory, env });
    return { directory, start, install: async () => (await start().ended).code };
  }

  const complete = ["mkdir -p node_modules", "touch node_modules/.package-lock.json"];
  const log = (directory: string): Promise<string> => readFile(join(directory, "npm.log"), "utf8");

  it("installs what is locked, once", async () => {
    const { directory, install } = await checkout(...complete);
    expect([await install(), await install()]).toEqual([0, 0]);
    expect(await log(directory)).toBe("ci --no-fund --no-audit\n");
  });

  it("installs again when the lock file is newer", async () => {
    const { directory, install } = await checkout(...complete);
    await install();
    const later = new Date(Date.now() + 60_000);
    await utimes(join(directory, "package-lock.json"), later, later);
    await install();
    expect(await log(directory)).toBe("ci --no-fund --no-audit\n".repeat(2));
  });

  it("fails when the installation does, and begins it anew the next time", async () => {
    const { directory, install } = await checkout(
      "mkdir -p node_modules/half",
      "test -f online || exit 7",
      ...complete,
    );
    expect(await install()).toBe(7);
    await writeFile(join(directory, "online"), "");
    expect([await install(), await install()]).toEqual([0, 0]);
    expect(await log(directory)).toBe("ci --no-fund --no-audit\n".repeat(2));
  });

  it("begins anew after an installation that was interrupted", async () => {
    const { directory, install } = await checkout(
      "mkdir -p node_modules/half",
      "test -f go || kill -INT $$",
      ...complete,
    );
    expect(await install()).not.toBe(0);
    await writeFile(join(directory, "go"), "");
    expect(await install()).toBe(0);
  });

  it("stays until npm has cleared up when it is interrupted", async () => {
    const { directory, start } = await checkout(
      "echo installing",
      "until test -f cleared-up; do sleep 0.05; done",
      "exit 9",
    );
    const { waitFor, kill, ended } = start();
    await waitFor(/installing/, "stderr");
    kill("SIGINT");
    await writeFile(join(directory, "cleared-up"), "");
    expect(await ended).toEqual({ code: 9, signal: null });
  });
});

describe(".ci/summary.mjs", () => {
  async function summary(report: string | undefined, exitStatus: string) {
    const file = join(await temporaryDirectory(), "report.json");
    if (report !== undefined) await writeFile(file, report);
    const { code, stdout } = await runNodeToEnd([join(projectRoot, ".ci/summary.mjs"), file, exitStatus]);
    return { code, stdout };
  }
  const report = (passed: number, failed: number): string =>
    JSON.stringify({ numPassedTests: passed, numFailedTests: failed });

  it.each([
    ["all tests passed", report(12, 0), "0", "12 passed, 0 failed\n", 0],
    ["some tests failed", report(10, 2), "1", "10 passed, 2 failed\n", 1],
    ["the tests passed, but a file did not load", report(12, 0), "1", "12 passed, 1 failed\n", 1],
    ["types, lint or packaging failed, so that no test ran", "", "2", "0 passed, 1 failed\n", 1],
    ["vitest crashed before it wrote its report", undefined, "134", "0 passed, 1 failed\n", 1],
    ["vitest crashed while it wrote its report", '{"numPassedTests": 12, "num', "1", "0 passed, 1 failed\n", 1],
    ["there were no tests at all", report(0, 0), "0", "0 passed, 0 failed\n", 1],
  ])("says so when %s", async (_what, content, exitStatus, stdout, code) => {
    expect(await summary(content, exitStatus)).toEqual({ code, stdout });
  });
});

describe(".ci/run", () => {
  /** A checkout on a machine that has nothing but a shell and Node; `npm test` is what the test says. */
  async function machine(...npm: readonly string[]): Promise<{ directory: string; env: Record<string, string> }> {
    const directory = await temporaryDirectory();
    await cp(join(projectRoot, ".ci"), join(directory, ".ci"), { recursive: true });
    await writeProgram(join(directory, "bin/npm"), 'echo "$@" > npm.log', 'for last in "$@"; do :; done', ...npm);
    await writeProgram(join(directory, "bin/apt-get"), 'echo "$@" >> apt-get.log');
    for (const name of ["bash", "sh", "env", "dirname", "mktemp", "rm"]) {
      const path = execFileSync("sh", ["-c", `command -v ${name}`])
        .toString()
        .trim();
      await symlink(path, join(directory, "bin", name));
    }
    await symlink(process.execPath, join(directory, "bin/node"));
    return { directory, env: { PATH: join(directory, "bin") } };
  }

  it("installs the programs that are missing, runs npm test, and ends with the counts", async () => {
    const writeReport = `echo '{"numPassedTests": 3, "numFailedTests": 0}' > "\${last#*=}"`;
    const { directory, env } = await machine("echo output of the tests", writeReport);
    const { code, stdout } = await run(join(directory, ".ci/run"), [], "/", env);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "output of the tests\n3 passed, 0 failed\n" });
    expect(await readFile(join(directory, "apt-get.log"), "utf8")).toMatch(/^update\ninstall .* curl .*\n$/);
    expect(await readFile(join(directory, "npm.log"), "utf8")).toMatch(/^test -- --reporter=default /);
  });

  it("fails with the tests, also when they could not run", async () => {
    const { directory, env } = await machine("echo 'error TS2322' >&2", "exit 2");
    const { code, stdout } = await run(join(directory, ".ci/run"), [], "/", env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "0 passed, 1 failed\n" });
  });

  it("goes on where it may not install programs", async () => {
    const { directory, env } = await machine(`echo '{"numPassedTests": 1, "numFailedTests": 0}' > "\${last#*=}"`);
    await rm(join(directory, "bin/apt-get"));
    await writeProgram(join(directory, "bin/apt-get"), "exit 100");
    const { stdout, stderr } = await run(join(directory, ".ci/run"), [], "/", env);
    expect(stdout).toBe("1 passed, 0 failed\n");
    expect(stderr).toContain("could not install curl");
  });
});
