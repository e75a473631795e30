import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { LeftOutReporter } from "./helpers/left-out-reporter.ts";
import { allNeeds, programPath } from "./helpers/needs.ts";
import { filesBelow, projectRoot } from "./helpers/source-files.ts";

const own = "habits.test.ts";
const files = filesBelow("test", ".ts")
  .filter((name) => name !== own)
  .map((name) => ({ name, text: readFileSync(`${projectRoot}/test/${name}`, "utf8") }));

const filesWith = (pattern: RegExp): string[] => files.filter(({ text }) => pattern.test(text)).map(({ name }) => name);

describe("the tests", () => {
  it("are left out only by what they need, which the end of a run says: never by skip, never for others by only", () => {
    expect(filesWith(/\.(?:skipIf|runIf|only|todo|fails)\(|\b(?:it|test|describe)\.skip\b|\bctx\.skip\(/)).toEqual([]);
  });

  it("do not measure time", () => {
    const measures = /performance\.now\(\)|hrtime|monitorEventLoopDelay/i;
    expect(filesWith(measures)).toEqual(["helpers/counted-work.ts", "helpers/fast-clock.ts"]); // replace the clock
  });

  it("wait for events, not for a time", () => {
    const waits = /await (?:delay|pause|sleep|setTimeout)\(\d{2,}|setTimeout\((?:resolve|r),|vi\.wait(?:For|Until)\(/;
    expect(filesWith(waits)).toEqual([]);
  });

  it("are random only by a seed", () => {
    expect(filesWith(/Math\.random\(|randomInt\(/)).toEqual([]);
    const ofFastCheck = files.filter(({ text }) => text.includes("fc.assert("));
    expect(ofFastCheck.length).toBeGreaterThan(10);
    expect(ofFastCheck.filter(({ text }) => !text.includes("checks({ seed:")).map(({ name }) => name)).toEqual([]);
  });
});

describe("what tests need", () => {
  it("is on the PATH, where it is a program", () => {
    for (const { name, isMet, isProgram } of allNeeds()) {
      if (isProgram) expect([name, programPath(name as never) !== undefined]).toEqual([name, isMet]);
    }
    vi.stubEnv("PATH", "");
    expect(programPath("bash")).toBeUndefined();
    vi.unstubAllEnvs();
  });

  it("is said once at the end of a run, with the number of tests that were left out", () => {
    const lines: string[] = [];
    const test = (...tags: string[]) => ({ tags });
    const module = { children: { allTests: () => [test("openssl", "nginx"), test("openssl"), test("campaign")] } };
    const needs = [
      { name: "openssl", isMet: false, isProgram: true, what: "the program openssl" },
      { name: "nginx", isMet: true, isProgram: true, what: "the program nginx" },
      { name: "campaign", isMet: false, isProgram: false, what: "time" },
    ] as const;
    const reporter = new LeftOutReporter(false, needs, (line) => lines.push(line));
    reporter.onTestRunEnd([module, module] as never);
    expect(lines).toEqual(["Left out: 4 tests that need the program openssl", "Left out: 2 tests that need time"]);
  });
});
