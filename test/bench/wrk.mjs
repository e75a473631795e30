import { execFile, spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Whether `wrk` is on the path: a load generator in C, which is faster than any server here. */
export const hasWrk = spawnSync("wrk", ["--version"]).error === undefined;

/** What wrk says about a run, in a form that needs no reading; `errors.status` counts replies of 400 and above. */
const report = `
done = function(summary, latency)
  local e = summary.errors
  print(string.format("REPORT %d %d %d %d %d", summary.requests, summary.bytes, summary.duration,
    latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end`;

/**
 * Keeps a server busy with wrk, as `load` does without. One thread is enough, and leaves a processor to the server.
 *
 * @param {number} port
 * @param {import("./load.mjs").Task} task
 * @param {number} ms wrk counts in whole seconds.
 */
export async function loadWithWrk(port, task, ms) {
  const { requests, connections } = task;
  const script = join(tmpdir(), `filement-bench-${process.pid}-${port}.lua`);
  const texts = requests.map((bytes) => `"${[...bytes].map((byte) => `\\${String(byte).padStart(3, "0")}`).join("")}"`);
  const choose = `
local requests = { ${texts.join(",\n")} }
local next = 0
request = function()
  next = next % #requests + 1
  return requests[next]
end`;
  await writeFile(script, choose + report);
  try {
    const seconds = Math.max(1, Math.round(ms / 1000));
    const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "20s", "-s", script];
    const { stdout } = await run("wrk", [...args, `http://127.0.0.1:${port}/`]);
    const [, ...figures] = /^REPORT (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(stdout) ?? [];
    const [count = 0, bytes = 0, microseconds = 0, p99 = 0, errors = 1] = figures.map(Number);
    if (errors + count === 0 && seconds < 60) return await loadWithWrk(port, task, 4000 * seconds); // a busy machine
    if (errors > 0 || count === 0) throw new Error(`wrk reports ${errors} errors in ${count} requests:\n${stdout}`);
    return {
      requests: count,
      requestsPerSecond: (count * 1e6) / microseconds,
      megabytesPerSecond: bytes / microseconds,
      p99: p99 / 1000,
    };
  } finally {
    await rm(script, { force: true });
  }
}
