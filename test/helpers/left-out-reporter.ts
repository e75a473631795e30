import type { Reporter, TestModule } from "vitest/node";
import { suiteSeed } from "./effort.ts";
import { allNeeds, type NeedState } from "./needs.ts";

/** Says at the end what this machine lacks, how many tests it left out, and which seed repeats a failure. */
export class LeftOutReporter implements Reporter {
  readonly #mustHavePrograms: boolean;
  readonly #needs: readonly NeedState[];
  readonly #print: (line: string) => void;

  /** @param mustHavePrograms where a missing program is a failure */
  constructor(mustHavePrograms: boolean, needs: readonly NeedState[] = allNeeds(), print = console.log) {
    this.#mustHavePrograms = mustHavePrograms;
    this.#needs = needs;
    this.#print = print;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const leftOut = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        for (const tag of test.tags) leftOut.set(tag, (leftOut.get(tag) ?? 0) + 1);
      }
    }
    for (const { name, isMet, isProgram, what } of this.#needs) {
      const count = leftOut.get(name);
      if (isMet || count === undefined) continue;
      this.#print(`Left out: ${count} ${count === 1 ? "test that needs" : "tests that need"} ${what}`);
      if (isProgram && this.#mustHavePrograms) process.exitCode = 1;
    }
    const hasFailed = modules.some((module) => module.state?.() === "failed");
    if (hasFailed) this.#print(`Seed of the random tests: ${suiteSeed} (FILEMENT_SEED)`);
  }
}
