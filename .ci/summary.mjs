// Prints `N passed, N failed` for a run of `npm test`: node .ci/summary.mjs <vitest's JSON report> <exit status>
import { readFileSync } from "node:fs";

const [report = "", exitStatus] = process.argv.slice(2);
let counts = { numPassedTests: 0, numFailedTests: 0 };
try {
  counts = JSON.parse(readFileSync(report, "utf8"));
} catch {
  console.error("the tests did not get to run: see above");
}

const { numPassedTests: passed, numFailedTests } = counts;
// A failure outside a test (types, lint, packaging, a file that does not load) must show in the count, too.
const failed = exitStatus === "0" ? numFailedTests : Math.max(1, numFailedTests);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
