import { afterEach, describe, expect, it, vi } from "vitest";
import type { AccessLogEntry } from "../../../src/plugins/access-log/entry.ts";
import { FunctionSink } from "../../../src/plugins/access-log/function-sink.ts";
import { LogFailures } from "../../../src/plugins/access-log/log-failures.ts";
import { aSite, type TestSite } from "./a-site.ts";

const entry = (): AccessLogEntry => ({ url: "/" }) as AccessLogEntry;

async function openSink(
  write: (line: string, entry: AccessLogEntry) => unknown,
  maxPending = 1000,
): Promise<TestSite & { sink: FunctionSink; failures: LogFailures }> {
  const failures = new LogFailures();
  const sink = new FunctionSink((line, entryOf) => write(line, entryOf()), failures, maxPending);
  const test = aSite();
  failures.site = test.site;
  await sink.start(test.site);
  return { ...test, sink, failures };
}

afterEach(() => void vi.useRealTimers());

describe("a function", () => {
  it("gets each line with its entry", async () => {
    const calls: unknown[] = [];
    const { sink } = await openSink((...parameters) => calls.push(parameters));
    sink.add("one", entry);
    expect(calls).toEqual([["one", { url: "/" }]]);
  });

  it("that throws loses its line and is reported once, until it has worked again", async () => {
    let isBroken = true;
    const { sink, failures, reports } = await openSink((line) => {
      if (isBroken) throw new Error(`cannot take ${line}`);
    });
    for (const line of ["one", "two"]) sink.add(line, entry);
    expect(reports).toEqual(["Error: accessLog: the function that takes its lines failed: cannot take one"]);
    isBroken = false;
    sink.add("three", entry);
    isBroken = true;
    sink.add("four", entry);
    expect(reports).toHaveLength(2);
    expect(failures.dropped).toBe(3);
  });

  it("whose promise is rejected does the same", async () => {
    const { sink, failures, reports } = await openSink(() => Promise.reject(new Error("no")));
    for (const line of ["one", "two"]) sink.add(line, entry);
    await sink.close();
    expect(reports).toEqual(["Error: accessLog: the function that takes its lines failed: no"]);
    expect(failures.dropped).toBe(2);
  });

  it("whose promises do not settle is asked no more, and holds up the end for two seconds at most", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let asked = 0;
    const { sink, failures } = await openSink(() => {
      asked += 1;
      return new Promise(() => {});
    }, 10);
    for (let count = 0; count < 5; count += 1) sink.add("1234", entry);
    expect([asked, failures.dropped]).toEqual([2, 3]);
    const closed = sink.close();
    vi.advanceTimersByTime(2000);
    await closed;
    expect(failures.dropped).toBe(5);
  });

  it("is waited for at the end, and asked again once its promises have settled", async () => {
    const settle: (() => void)[] = [];
    const { sink, failures } = await openSink(() => new Promise<void>((resolve) => settle.push(resolve)), 10);
    for (const line of ["12345", "12345", "lost"]) sink.add(line, entry);
    expect(failures.dropped).toBe(1);
    settle.splice(0).forEach((each) => void each());
    await new Promise(setImmediate);
    sink.add("12345", entry);
    const closed = sink.close();
    settle.splice(0).forEach((each) => void each());
    await closed;
    expect(failures.dropped).toBe(1);
  });
});
