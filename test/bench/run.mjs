// `npm run bench`: measures the compiled library. `npm run bench -- files memory` measures only those; `--before DIR`
// compares with the project in another folder, built there; `--rounds 3` measures each server three times; `--quick` is a
// trial that shows whether everything works, not how fast.
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, loadavg, platform, tmpdir, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { driver } from "./rounds.mjs";

/** Each with what it needs, which those that are not asked for do not load. @type {Readonly<Record<string, () => Promise<import("./rounds.mjs").Measurement>>>} */
const measurements = {
  start: async () => (await import("./start.mjs")).start,
  chart: async () => (await import("./chart.mjs")).chart,
  files: async () => (await import("./files.mjs")).files,
  writes: async () => (await import("./writes.mjs")).writes,
  listings: async () => (await import("./listings.mjs")).listings,
  elements: async () => (await import("./elements.mjs")).elements,
  edits: async () => (await import("./edits.mjs")).edits,
  plugins: async () => (await import("./plugins.mjs")).plugins,
  history: async () => (await import("./history.mjs")).history,
  live: async () => (await import("./live.mjs")).live,
  turns: async () => (await import("./turns.mjs")).turns,
  memory: async () => (await import("./memory.mjs")).memory,
  scale: async () => (await import("./scale.mjs")).scale,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean" }, before: { type: "string" }, rounds: { type: "string", default: "5" } },
});
const before = values.before && pathToFileURL(resolve(values.before, "dist/index.js")).href;
// A single round is a trial to all of them, with less to do.
const thoroughness = values.quick
  ? { rounds: 1, ms: 100, largeBytes: 32 * 1024 ** 2 }
  : { rounds: Math.max(2, Number(values.rounds)), ms: 1000, largeBytes: 1024 ** 3 };
const effort = { ...thoroughness, ...(before && { before }) };

const names = positionals.length > 0 ? positionals : Object.keys(measurements);
const unknown = names.filter((name) => !(name in measurements));
if (unknown.length > 0) {
  console.error(`no measurement ${unknown.join(", ")}; there are: ${Object.keys(measurements).join(", ")}`);
  process.exit(2);
}

console.log(
  `Node ${process.versions.node}, ${platform()}, ${availableParallelism()} cores, ${Math.round(totalmem() / 1024 ** 3)} GiB memory. ${driver}\n`,
);
const directory = await mkdtemp(join(tmpdir(), "filement-bench-"));
try {
  for (const name of names) {
    console.log(
      `Load of the machine before ${name}: ${loadavg()
        .map((each) => each.toFixed(1))
        .join(", ")}\n`,
    );
    const measure = await measurements[name]?.();
    await measure?.(directory, effort);
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
