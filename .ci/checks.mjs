// node .ci/checks.mjs <script>...: runs scripts of package.json at the same time, and shows what the failed ones printed.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { delimiter, resolve } from "node:path";

const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
// As npm would run them; a start of npm for each would take as long as the fastest of them.
const env = { ...process.env, PATH: `${resolve("node_modules/.bin")}${delimiter}${process.env["PATH"]}` };

await Promise.all(process.argv.slice(2).map(check));

/** @param {string} script */
async function check(script) {
  const child = spawn(scripts[script], { env, shell: true, stdio: ["ignore", "pipe", "pipe"] });
  /** @type {Buffer[]} */
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => printed.push(chunk));
  const status = await new Promise((resolve) => child.on("close", resolve));
  if (status === 0) return;
  console.error(`npm run ${script} failed:\n${Buffer.concat(printed)}`);
  process.exitCode = 1;
}
