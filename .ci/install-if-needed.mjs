// Installs the locked dependencies, but only where they are missing or older than the lock file.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const installed = "node_modules/.package-lock.json"; // npm writes it last, so an interrupted install leaves none

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync("package-lock.json").mtimeMs) {
  const { status } = spawnSync("npm ci --no-fund --no-audit", { shell: true, stdio: ["ignore", 2, 2] });
  process.exitCode = status ?? 1;
}
