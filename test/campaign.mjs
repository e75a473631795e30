/**
 * `npm run campaign -- --minutes 5`: everything of which `npm test` takes a sample (all 258 pages, all attacks, the
 * benchmarks' smoke) and every random test with new seeds, round after round until the time is spent. Options:
 * `--seed N` for the first round, `--rounds N` to end after so many, `--only WORD` for the test files with this in their name,
 * `--report FILE` for the counts as JSON.
 *
 * A million random edits, each beside a full parse: `npm run campaign -- --only reparse-html --edits 1000000 --rounds 1`.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BaseSequencer, createVitest } from "vitest/node";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    rounds: { type: "string", default: "Infinity" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    only: { type: "string", default: "" },
    edits: { type: "string", default: "100000" },
    report: { type: "string" },
  },
});
const startedAt = Date.now();
const endsAt = startedAt + Number(values.minutes) * 60_000;
const config = "test/vitest.config.ts";
const counts = { passed: 0, failed: 0 };
/** @type {Array<{ name: string, status: string, message: string, assertionResults: unknown[] }>} as Vitest's JSON reporter writes it */
const failedFiles = [];
let rounds = 0;

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
process.env["FILEMENT_CAMPAIGN"] = "1";
process.env["FILEMENT_CAMPAIGN_ENDS_AT"] = String(endsAt);
process.env["FILEMENT_EDITS"] = values.edits;
if (values.only === "") process.env["FILEMENT_CAMPAIGN_SHARE"] = "0.125";

/** What takes a sample says so by one of these. */
const takesSample =
  /helpers\/effort\.ts"|\brealPages\b|\bstorageContract\b|\(storages\)|tags: \["(?:campaign|minutes)"/;
const files = filesWith(takesSample);
/** What runs with the pages in a bucket as well, where there is an S3 server; a property would take all of the time. */
const ofPages = filesWith(/\b(?:edit|serveOne)\b.* from "\.\/editing\.ts"/).filter(
  (file) => !file.includes(".property."),
);
/** What could go on for ever, and gets a share of the time; and of what ends by itself, what takes longest. */
const first = new Set([...filesWith(/\b(?:msForOneTest|timeForMore)\b/), "test/bench.test.ts", "test/site.test.ts"]);
const hasS3Server = spawnSync("versitygw", ["--version"]).status === 0;

/**
 * First what could go on for ever, for its share of the time, and what takes longest; then what takes the least, so that as
 * many as possible have their turn on a slow machine, too.
 */
class ManyFirst extends BaseSequencer {
  /**
   * @override
   * @param {Parameters<BaseSequencer["sort"]>[0]} files
   */
  async sort(files) {
    const shortestFirst = (await super.sort(files)).reverse();
    const isFirst = (/** @type {(typeof files)[number]} */ { moduleId }) =>
      [...first].some((file) => moduleId.endsWith(file));
    return [...shortestFirst.filter(isFirst), ...shortestFirst.filter((file) => !isFirst(file))];
  }
}

while (Date.now() < endsAt && rounds < Number(values.rounds)) {
  await round(Number(values.seed) + rounds);
  rounds += 1;
}

const { passed, failed } = counts;
const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
if (values.report) {
  const report = { numPassedTests: passed, numFailedTests: failed, testResults: failedFiles };
  writeFileSync(values.report, JSON.stringify(report));
}
console.log(
  `campaign: ${rounds} ${rounds === 1 ? "round" : "rounds"} from seed ${values.seed}, ${minutes} minutes: ${passed} passed, ${failed} failed`,
);
process.exit(failed > 0 || passed === 0 ? 1 : 0);

/** The test files in which something is. @param {RegExp} pattern */
function filesWith(pattern) {
  return readdirSync("test", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => `test/${name.replaceAll("\\", "/")}`)
    .filter((file) => file.includes(values.only) && pattern.test(readFileSync(file, "utf8")));
}

/**
 * Runs everything once: first the tests that `npm test` leaves out, which nothing else runs, then those of which it takes a
 * sample, and those that take minutes.
 *
 * @param {number} seed
 */
async function round(seed) {
  console.log(`round ${rounds + 1}: seed ${seed}`);
  process.env["FILEMENT_SEED"] = String(seed);
  await run(files, "memory", "campaign");
  if (hasS3Server && ofPages.length > 0) await run(ofPages, "s3");
  await run(files, "memory", "!campaign");
}

/**
 * Runs all files once, if there is time; when it is spent, only to the end of the tests that are under way: the others
 * leave themselves out (helpers/campaign-end.ts). Cancelling the run would tear down what these still use.
 *
 * @param {string[]} files
 * @param {string} storage where pages of tests are, by `test/helpers/effort.ts`
 * @param {string} [tags] which of their tests, where not all; an expression of Vitest
 */
async function run(files, storage, tags) {
  if (Date.now() >= endsAt) return;
  process.env["FILEMENT_STORAGE"] = storage;
  const vitest = await createVitest("test", {
    config,
    watch: false,
    reporters: ["default"],
    sequence: { sequencer: ManyFirst },
    ...(tags && { tagsFilter: [tags] }),
    silent: values.only ? false : "passed-only",
  });
  const { testModules, unhandledErrors } = await vitest.start(files);
  counts.failed += unhandledErrors.length;
  if (unhandledErrors.length > 0) failedFiles.push(failedFile("unhandled errors", unhandledErrors));
  for (const module of testModules) {
    const tests = [...module.children.allTests()].map((test) => test.result().state);
    const failures = tests.filter((state) => state === "failed").length;
    counts.passed += tests.filter((state) => state === "passed").length;
    counts.failed += Math.max(failures, module.state() === "failed" ? 1 : 0);
    if (module.state() !== "failed") continue;
    failedFiles.push(failedFile(module.moduleId, module.errors(), [...module.children.allTests("failed")]));
    const { FILEMENT_SEED: seed } = process.env;
    const again = `FILEMENT_CAMPAIGN=1 FILEMENT_SEED=${seed} FILEMENT_STORAGE=${storage} npx vitest run --config ${config}`;
    console.log(`Once more: ${again} ${module.relativeModuleId}`);
  }
  await vitest.close();
}

/**
 * What `.ci/summary.mjs` prints of a file that failed.
 *
 * @param {string} name
 * @param {readonly unknown[]} errors outside its tests
 * @param {import("vitest/node").TestCase[]} tests
 */
function failedFile(name, errors, tests = []) {
  const assertionResults = tests.map((test) => ({
    status: "failed",
    fullName: test.fullName,
    failureMessages: (test.result().errors ?? []).map(messageOf),
  }));
  return { name, status: "failed", message: errors.map(messageOf).join("\n"), assertionResults };
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Object && "message" in error ? String(error.message) : String(error);
}
