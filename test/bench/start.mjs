import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

const run = promisify(execFile);
const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** What each program imports. */
const imports = { nothing: "", filement: 'await import("filement");', express: 'await import("express");' };

/**
 * Measures the processor time that an import takes, in processes of their own and in turns.
 * @type {import("./rounds.mjs").Measurement}
 */
export async function start(_directory, { rounds }) {
  /** @type {Map<string, number[]>} */
  const times = new Map(Object.keys(imports).map((name) => [name, []]));
  for (let round = 0; round < 5 * rounds; round += 1) {
    for (const [name, program] of Object.entries(imports)) {
      const print = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);";
      const args = ["--input-type=module", "--eval", `${program} ${print}`];
      const { stdout } = await run(process.execPath, args, { cwd: projectRoot });
      times.get(name)?.push(Number(stdout));
    }
  }
  const taken = (/** @type {string} */ name) => median(times.get(name) ?? []) - median(times.get("nothing") ?? []);
  const rows = ["filement", "express"].map((name) => [
    `import "${name}"`,
    (taken(name) / taken("express")).toFixed(2),
    taken(name).toFixed(1),
  ]);
  printTable("Processor time of an import", ["import", "of express", "ms"], rows);
}
