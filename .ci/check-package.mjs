// `npm run package`: packs once what would be published, and has publint and attw look at that.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directory = await mkdtemp(join(tmpdir(), "filement-package-"));
try {
  // Built is already what the checks before compiled; `prepack` would do it again.
  run("npm pack --silent --ignore-scripts --pack-destination", directory);
  const [tarball = ""] = await readdir(directory);
  run("publint --strict", join(directory, tarball));
  run("attw --profile esm-only", join(directory, tarball));
} finally {
  await rm(directory, { recursive: true });
}

/**
 * @param {string} command what npm finds, too
 * @param {string} path
 */
function run(command, path) {
  const { status, stdout, stderr } = spawnSync(`${command} "${path}"`, { encoding: "utf8", shell: true });
  if (status === 0) return;
  console.error(`${command}:\n${stdout}${stderr}`);
  process.exitCode = 1;
}
