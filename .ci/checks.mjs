// node .ci/checks.mjs <script>...: runs scripts of package.json at the same time, and shows what the failed ones printed.
import { spawn } from "node:child_process";

await Promise.all(process.argv.slice(2).map(check));

/** @param {string} script */
async function check(script) {
  const npm = spawn("npm", ["run", "--silent", script], {
    shell: process.platform === "win32", // where npm is a script
    stdio: ["ignore", "pipe", "pipe"],
  });
  /** @type {Buffer[]} */
  const printed = [];
  for (const stream of [npm.stdout, npm.stderr]) stream.on("data", (chunk) => printed.push(chunk));
  const status = await new Promise((resolve) => npm.on("close", resolve));
  if (status === 0) return;
  console.error(`npm run ${script} failed:\n${Buffer.concat(printed)}`);
  process.exitCode = 1;
}
