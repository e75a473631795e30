/**
 * Names the tests that failed in any part of a run, with what they said, and ends with `N passed, N failed` for all parts:
 * node .ci/summary.mjs [<JSON report> <exit status>]...
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";

/**
 * What Vitest's JSON reporter writes, as far as it is read here.
 *
 * @typedef {{ status: string, fullName: string, failureMessages?: string[] }} Test
 * @typedef {{ name: string, status: string, message?: string, assertionResults: Test[] }} TestFile
 * @typedef {{ numPassedTests: number, numFailedTests: number, testResults?: TestFile[] }} Report
 */

/** A log may keep only its end: what failed stands there, and not at such length that it pushes itself out. */
const maxFailures = 20;
const maxLines = 12;

const results = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (let index = 0; index < results.length; index += 2) {
  const part = basename(results[index] ?? "", ".json");
  const report = readReport(results[index] ?? "");
  passed += report.numPassedTests;
  // A failure outside a test (types, lint, packaging, a file that does not load) must show in the count, too.
  const isGood = results[index + 1] === "0" && report.numPassedTests > 0;
  failed += isGood ? report.numFailedTests : Math.max(1, report.numFailedTests);
  const failures = failuresOf(report);
  for (const failure of failures.slice(0, maxFailures)) console.log(`${part}: ${failure}`);
  if (failures.length > maxFailures) console.log(`${part}: and ${failures.length - maxFailures} more`);
  if (!isGood && failures.length === 0) console.log(`${part}: failed outside a test (exit ${results[index + 1]})`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/**
 * @param {string} file
 * @returns {Report}
 */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    console.error("the tests did not get to run: see above");
    return { numPassedTests: 0, numFailedTests: 0 };
  }
}

/**
 * What failed, as `file > test` and the first lines of what was said.
 *
 * @param {Report} report
 */
function failuresOf({ testResults = [] }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = name.slice(name.lastIndexOf("/test/") + 1);
    const tests = assertionResults
      .filter((test) => test.status === "failed")
      .map((test) => `${file} > ${test.fullName}\n${startOf(test.failureMessages?.join("\n") ?? "")}`);
    return status === "failed" && tests.length === 0 ? [`${file}\n${startOf(message ?? "")}`] : tests;
  });
}

/** @param {string} text */
function startOf(text) {
  const lines = text.split("\n").slice(0, maxLines);
  return lines.map((line) => `  ${line.slice(0, 300)}`).join("\n");
}
