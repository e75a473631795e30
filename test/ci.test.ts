import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sample } from "./helpers/effort.ts";
import { run } from "./helpers/run.ts";
import { type RunningNode, runNode, runNodeToEnd } from "./helpers/run-node.ts";
import { projectRoot } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

/** A program of a shell script, for a `PATH`. */
async function writeProgram(path: string, ...lines: readonly string[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  await chmod(path, 0o755);
}

/** Puts `.ci` in a checkout, without what is installed and built there. */
async function copyScripts(directory: string): Promise<void> {
  const filter = (path: string): boolean => !/[\\/]site[\\/](?:node_modules|dist)$/.test(path);
  await cp(join(projectRoot, ".ci"), join(directory, ".ci"), { recursive: true, filter });
}

describe(".ci/install-if-needed.mjs", () => {
  /** A checkout in which `npm` only notes what it was told, and installs as far as the test says. */
  async function checkout(...npm: readonly string[]) {
    const directory = await temporaryDirectory();
    await copyScripts(directory);
    await writeFile(join(directory, "package-lock.json"), "{}");
    await mkdir(join(directory, "node_modules/half"), { recursive: true });
    await writeProgram(join(directory, "bin/npm"), 'echo "$@" >> npm.log', ...npm);
    const env = { PATH: `${directory}/bin:${process.env["PATH"]}` };
    const start = (): RunningNode => runNode([".ci/install-if-needed.mjs"], { cwd: directory, env });
    return { directory, start, install: async () => (await start().ended).code };
  }

  const complete = [": > node_modules/.package-lock.json"];
  const log = (directory: string): Promise<string> => readFile(join(directory, "npm.log"), "utf8");

  it("installs what is locked, once, and says so before it begins", async () => {
    const { directory, start } = await checkout(...complete);
    const said = [];
    for (let time = 0; time < 2; time += 1) {
      const { printed, ended } = start();
      expect((await ended).code).toBe(0);
      said.push(printed.stderr);
    }
    expect(said).toEqual([expect.stringMatching(/^Installing the dependencies, once\./), ""]);
    expect(await log(directory)).toBe("ci --no-fund --no-audit\n");
  });

  it("fails when the installation does, and begins it anew the next time", async () => {
    const { directory, install } = await checkout("test -f online || exit 7", ...complete);
    expect(await install()).toBe(7);
    await writeFile(join(directory, "online"), "");
    expect([await install(), await install()]).toEqual([0, 0]);
    expect(await log(directory)).toBe("ci --no-fund --no-audit\n".repeat(2));
  });

  it("stays until npm has cleared up when it is interrupted", async () => {
    const { directory, start } = await checkout("echo installing", "until test -f cleared-up; do :; done", "exit 9");
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
    return summaryOf(file, exitStatus);
  }
  async function summaryOf(...results: readonly string[]) {
    const { code, stdout } = await runNodeToEnd([join(projectRoot, ".ci/summary.mjs"), ...results]);
    return { code, stdout };
  }
  const report = (passed: number, failed: number): string =>
    JSON.stringify({ numPassedTests: passed, numFailedTests: failed });

  const outside = (exitStatus: string): string => `report: failed outside a test (exit ${exitStatus})\n`;

  const runs: ReadonlyArray<[string, string | undefined, string, string, number]> = [
    ["all tests passed", report(12, 0), "0", "12 passed, 0 failed\n", 0],
    ["some tests failed", report(10, 2), "1", `${outside("1")}10 passed, 2 failed\n`, 1],
    ["types, lint or packaging failed, so that no test ran", "", "2", `${outside("2")}0 passed, 1 failed\n`, 1],
    ["vitest crashed while it wrote", '{"numPassedTests": 12, "num', "1", `${outside("1")}0 passed, 1 failed\n`, 1],
    ["there were no tests at all", report(0, 0), "0", `${outside("0")}0 passed, 1 failed\n`, 1],
  ];

  it.each(sample(runs, 3))("says so when %s", async (_what, content, exitStatus, stdout, code) => {
    expect(await summary(content, exitStatus)).toEqual({ code, stdout });
  });

  it("names what failed, with the first lines of what it said, behind which a log may be cut", async () => {
    const passed = { status: "passed", fullName: "adds up", failureMessages: [] };
    const failed = { status: "failed", fullName: "counts to three", failureMessages: ["Error: two\n  at here"] };
    const testResults = [
      { name: "/work/test/good.test.ts", status: "passed", assertionResults: [passed] },
      { name: "/work/test/bad.test.ts", status: "failed", assertionResults: [passed, failed] },
      { name: "/work/test/broken.test.ts", status: "failed", message: "Error: no such module", assertionResults: [] },
    ];
    const content = JSON.stringify({ numPassedTests: 2, numFailedTests: 1, testResults });
    expect((await summary(content, "1")).stdout.split("\n")).toEqual([
      "report: test/bad.test.ts > counts to three",
      "  Error: two",
      "    at here",
      "report: test/broken.test.ts",
      "  Error: no such module",
      "2 passed, 1 failed",
      "",
    ]);
  });

  it("adds up all parts, of which none may fail or be empty", async () => {
    const directory = await temporaryDirectory();
    const part = async (name: string, content: string): Promise<string> => {
      await writeFile(join(directory, name), content);
      return join(directory, name);
    };
    const [first, second, none] = [
      await part("first", report(12, 0)),
      await part("second", report(5, 2)),
      await part("none", report(0, 0)),
    ];
    expect(await summaryOf(first, "0", first, "0")).toEqual({ code: 0, stdout: "24 passed, 0 failed\n" });
    const outside = (name: string, status: number): string => `${name}: failed outside a test (exit ${status})\n`;
    expect(await summaryOf(first, "0", second, "1")).toEqual({
      code: 1,
      stdout: `${outside("second", 1)}17 passed, 2 failed\n`,
    });
    expect(await summaryOf(first, "0", none, "0")).toEqual({
      code: 1,
      stdout: `${outside("none", 0)}12 passed, 1 failed\n`,
    });
    expect(await summaryOf()).toEqual({ code: 1, stdout: "0 passed, 0 failed\n" });
  });
});

describe(".ci/tests-of-programs.mjs", () => {
  it("names the tests for which it matters what is on the PATH", async () => {
    const { stdout } = await run(process.execPath, [join(projectRoot, ".ci/tests-of-programs.mjs")], "/");
    const files = stdout.trimEnd().split("\n");
    expect(files).toEqual(
      expect.arrayContaining([
        "test/ci.test.ts", // starts them itself
        "test/cli/tls-files.test.ts", // by a helper
        "test/plugins/history.test.ts", // starts more than git
        "test/end-to-end/kanban.test.ts", // a browser
      ]),
    );
    const onlyNodeAndGit = /^test\/(?:http|html|options|cli\/serve|plugins\/history\/importer)\b/;
    expect(files.filter((file) => onlyNodeAndGit.test(file))).toEqual([]);
  });
});

describe(".ci/run", { tags: ["bash"] }, () => {
  /** A checkout on a machine that has nothing but a shell and Node; each run of npm is what the test says. */
  async function machine(...npm: readonly string[]): Promise<{ directory: string; env: Record<string, string> }> {
    const directory = await temporaryDirectory();
    await copyScripts(directory);
    await writeProgram(
      join(directory, "bin/npm"),
      `[ "$1" = install ] && { echo "$@" >> ${directory}/install.log; exit 1; }`,
      `echo "\${FILEMENT_PROGRAMS:-} \${PATH##*/}: $@" >> ${directory}/npm.log`,
      'for last in "$@"; do :; done',
      ...npm,
    );
    await writeProgram(join(directory, "bin/apt-get"), `echo "$@" >> ${directory}/apt-get.log`);
    for (const name of ["bash", "sh", "env", "dirname", "mkdir", "mktemp", "ln", "rm"]) {
      const path = execFileSync("sh", ["-c", `command -v ${name}`])
        .toString()
        .trim();
      await symlink(path, join(directory, "bin", name));
    }
    await symlink(process.execPath, join(directory, "bin/node"));
    await writeProgram(join(directory, "bin/git"));
    return { directory, env: { PATH: join(directory, "bin"), FILEMENT_PROGRAMS: "", CAMPAIGN_MINUTES: "" } };
  }

  const writeReport = (passed: number): string =>
    `echo '{"numPassedTests": ${passed}, "numFailedTests": 0}' > "\${last#*=}"`;
  const log = (directory: string, name: string): Promise<string> => readFile(join(directory, `${name}.log`), "utf8");

  it("installs the programs that are missing, runs npm test, some tests again and the campaign, and ends with the counts", async () => {
    const { directory, env } = await machine("echo output of npm", writeReport(3));
    const { code, stdout } = await run(join(directory, ".ci/run"), [], "/", env);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${"output of npm\n".repeat(3)}9 passed, 0 failed\n` });
    const [update, ...installed] = (await log(directory, "apt-get")).trimEnd().split("\n");
    expect(update).toBe("update");
    // Some programs may be where only root looks for them, which .ci/run does, too.
    const ofRoot = ["nginx-light", "exfatprogs", "exfat-fuse", undefined];
    expect(installed.map((line) => line.split(" ").at(-1)).filter((name) => !ofRoot.includes(name))).toEqual([
      "curl",
      "chromium-headless-shell",
      "firefox-esr",
      "apache2-utils",
      "openssl",
      "caddy",
      "bindfs",
      "litmus",
      "redis-server",
      "systemd",
      "wrk",
    ]);
    const [full, ...bareAndTools] = (await log(directory, "npm")).trimEnd().split("\n");
    const campaign = bareAndTools.pop();
    expect(full).toMatch(/ sbin: test -- --reporter=default --reporter=json --outputFile.json=\S+\/full.json$/);
    // These two run at the same time.
    expect(bareAndTools.sort()).toEqual([
      expect.stringMatching(/ bin: run unit -- --reporter=default --reporter=json --outputFile.json=\S+\/bare.json$/),
      expect.stringMatching(/ sbin: run -s tools$/),
    ]);
    expect(campaign).toMatch(/ sbin: run campaign -- --seed 1 --rounds 1 --minutes 1 --report \S+\/campaign.json$/);
  });

  it("demands every program of the tests where all are installed, but not with a bare PATH", async () => {
    const { directory, env } = await machine(writeReport(1));
    const debian =
      "curl chromium firefox htpasswd openssl nginx caddy mkfs.exfat mount.exfat-fuse bindfs litmus redis-server systemd-analyze wrk";
    for (const name of debian.split(" ")) await writeProgram(join(directory, "bin", name));
    expect((await run(join(directory, ".ci/run"), [], "/", env)).stdout).toBe("3 passed, 0 failed\n");
    const lines = (await log(directory, "npm")).trimEnd().split("\n");
    expect(lines.map((line) => line.startsWith("required ") !== line.includes(" bin: "))).toEqual(Array(4).fill(true));
  });

  it("fails with the tests, also when they could not run", async () => {
    const { directory, env } = await machine("echo 'error TS2322' >&2", "exit 2");
    const { code, stdout } = await run(join(directory, ".ci/run"), [], "/", env);
    const lines = ["full", "bare", "campaign"].map((part) => `${part}: failed outside a test (exit 2)`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: `${lines.join("\n")}\n0 passed, 3 failed\n` });
  });
});
