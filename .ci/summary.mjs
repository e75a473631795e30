// Prints `N passed, N failed` for all parts of a run: node .ci/summary.mjs [<JSON report> <exit status>]...
import { readFileSync } from "node:fs";

const results = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (let index = 0; index < results.length; index += 2) {
  const counts = countsOf(results[index] ?? "");
  passed += counts.numPassedTests;
  // A failure outside a test (types, lint, packaging, a file that does not load) must show in the count, too.
  const isGood = results[index + 1] === "0" && counts.numPassedTests > 0;
  failed += isGood ? counts.numFailedTests : Math.max(1, counts.numFailedTests);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/** @param {string} report */
function countsOf(report) {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    console.error("the tests did not get to run: see above");
    return { numPassedTests: 0, numFailedTests: 0 };
  }
}
