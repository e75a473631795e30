import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./rounds.mjs";
import { printTable } from "./table.mjs";

const run = promisify(execFile);
const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** What each program imports. */
const imports = { nothing: "", filement: 'await import("filement");', express: 'await import("express");' };

/** Prints what a server takes that has served nothing yet: the mean of many. */
const manyServers = `const { createFileServer } = await import("filement");
  const used = () => (gc(), process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers);
  const make = () => Array.from({ length: 200 }, () => createFileServer({ root: "test" }));
  globalThis.kept = [make()];
  const [before, begun] = [used(), process.cpuUsage()];
  kept.push(make());
  console.log(process.cpuUsage(begun).user / 200_000, (used() - before) / 204_800);`;

/**
 * Measures what an import takes, in processes of their own and in turns, and a server that has served nothing yet.
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
  const args = ["--expose-gc", "--input-type=module", "--eval", manyServers];
  const { stdout } = await run(process.execPath, args, { cwd: projectRoot });
  const [ms = 0, kibibytes = 0] = stdout.split(" ").map(Number);
  const row = ["createFileServer({ root })", ms.toFixed(2), kibibytes.toFixed(0)];
  printTable("A server that has served nothing yet", ["server", "ms", "KiB"], [row]);
}
