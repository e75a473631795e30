// Installs the locked dependencies, but only where they are missing or older than the lock file.
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const installed = "node_modules/.package-lock.json"; // npm writes it last, so an interrupted install leaves none

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync("package-lock.json").mtimeMs) {
  // Interrupted, npm clears up for some seconds, and another installation would get in its way: so stay until it ends.
  // Said before npm starts, so that no signal comes between.
  process.on("SIGINT", () => {}); // a terminal has told npm, too
  process.on("SIGTERM", () => npm.kill("SIGTERM"));
  console.error("Installing the dependencies, once. That can take a minute or two.");
  const startedAt = Date.now();
  const signOfLife = setInterval(() => {
    console.error(`  still installing, ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }, 10_000);
  const npm = spawn("npm", ["ci", "--no-fund", "--no-audit"], {
    shell: process.platform === "win32", // where npm is a script
    stdio: ["ignore", 2, 2],
  });
  npm.on("exit", (code) => {
    clearInterval(signOfLife);
    process.exitCode = code ?? 1;
  });
}
