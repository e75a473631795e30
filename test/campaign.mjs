/**
 * `npm run campaign -- --minutes 5`: everything of which `npm test` takes a sample (all 258 pages, all attacks, the
 * benchmarks' smoke) and every random test with new seeds, round after round until the time is spent. Options:
 * `--seed N` for the first round, `--rounds N` to end after so many, `--report FILE` for the counts as JSON.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createVitest } from "vitest/node";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    rounds: { type: "string", default: "Infinity" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    report: { type: "string" },
  },
});
const startedAt = Date.now();
const endsAt = startedAt + Number(values.minutes) * 60_000;
const config = "test/vitest.config.ts";
const counts = { passed: 0, failed: 0 };
let rounds = 0;

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
process.env["FILEMENT_CAMPAIGN"] = "1";
process.env["FILEMENT_CAMPAIGN_ENDS_AT"] = String(endsAt);

/** What takes a sample says so by one of these. */
const takesSample = /helpers\/effort\.ts"|\brealPages\b|\bstorageContract\b|tags: \["campaign"\]/;
const files = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => `test/${name.replaceAll("\\", "/")}`)
  .filter((file) => takesSample.test(readFileSync(file, "utf8")));

while (Date.now() < endsAt && rounds < Number(values.rounds)) {
  await round(Number(values.seed) + rounds);
  rounds += 1;
}

const { passed, failed } = counts;
const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
if (values.report) writeFileSync(values.report, JSON.stringify({ numPassedTests: passed, numFailedTests: failed }));
console.log(
  `campaign: ${rounds} ${rounds === 1 ? "round" : "rounds"} from seed ${values.seed}, ${minutes} minutes: ${passed} passed, ${failed} failed`,
);
process.exit(failed > 0 || passed === 0 ? 1 : 0);

/**
 * Runs all files once; when the time is spent, only to the end of the tests that are under way: the others leave
 * themselves out (helpers/campaign-end.ts). Cancelling the run would tear down what these still use.
 *
 * @param {number} seed
 */
async function round(seed) {
  console.log(`round ${rounds + 1}: seed ${seed}`);
  process.env["FILEMENT_SEED"] = String(seed);
  const vitest = await createVitest("test", { config, watch: false, reporters: ["default"], silent: "passed-only" });
  const { testModules, unhandledErrors } = await vitest.start(files);
  counts.failed += unhandledErrors.length;
  for (const module of testModules) {
    const tests = [...module.children.allTests()].map((test) => test.result().state);
    const failures = tests.filter((state) => state === "failed").length;
    counts.passed += tests.filter((state) => state === "passed").length;
    counts.failed += Math.max(failures, module.state() === "failed" ? 1 : 0);
    if (module.state() !== "failed") continue;
    const again = `FILEMENT_CAMPAIGN=1 FILEMENT_SEED=${seed} npx vitest run --config ${config}`;
    console.log(`Once more: ${again} ${module.relativeModuleId}`);
  }
  await vitest.close();
}
