import { PassThrough, Writable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { AccessLogEntry } from "../../../src/plugins/access-log/entry.ts";
import {
  functionOutput,
  LogFailures,
  type LogStream,
  type Output,
  streamOutput,
} from "../../../src/plugins/access-log/output.ts";
import { accessLog } from "../../../src/plugins/access-log.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { send } from "../../helpers/send.ts";
import { serve } from "../../helpers/serve.ts";
import { until } from "../../helpers/until.ts";
import { aSite, type TestSite } from "./a-site.ts";

type Opened = TestSite & Pick<Output, "close"> & { failures: LogFailures; add: (...lines: string[]) => void };

/** Of three lines of this length, two may wait. */
const long = (name: string): string => name.padEnd(500_000);
const entry = (): AccessLogEntry => ({ url: "/" }) as AccessLogEntry;
const turn = (): Promise<void> => new Promise(setImmediate);

function opened(outputOf: (failures: LogFailures) => Output): Opened {
  const failures = new LogFailures();
  const test = aSite();
  failures.site = test.site;
  const output = outputOf(failures);
  void output.start?.(test.site);
  const add = (...lines: string[]): void => lines.forEach((line) => void output.add(line, entry));
  return { ...test, close: output.close, failures, add };
}
const toFunction = (write: (line: string, entry: AccessLogEntry) => unknown): Opened =>
  opened((failures) => functionOutput((line, entryOf) => write(line, entryOf()), failures));
const toStream = (stream: LogStream): Opened => opened((failures) => streamOutput(stream, failures));

/** A stream that takes a write only when told to. */
function stalling(): { stream: Writable; names: string[]; go: () => void } {
  const names: string[] = [];
  let taken: (() => void) | undefined;
  const stream = new Writable({
    write(chunk, _encoding, callback) {
      names.push(String(chunk).trim());
      taken = callback;
    },
  });
  return { stream, names, go: () => taken?.() };
}

afterEach(() => void vi.useRealTimers());

describe("the failures of a log", () => {
  it("are told with numbers, at once and then every ten seconds", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { site, warnings } = aSite();
    const failures = new LogFailures();
    failures.site = site;
    for (let second = 0; second < 12; second += 1) {
      failures.drop(2);
      vi.advanceTimersByTime(1000);
    }
    expect(warnings).toEqual([
      { dropped: 2, droppedInAll: 2 },
      { dropped: 20, droppedInAll: 22 },
    ]);
    vi.advanceTimersByTime(10_000);
    failures.succeeded();
    failures.warn();
    expect(warnings.slice(2)).toEqual([{ dropped: 2, droppedInAll: 24 }]);
  });
});

describe("a function", () => {
  it("that throws loses its line and is reported once, until it has worked again", () => {
    let isBroken = true;
    const { add, failures, reports } = toFunction((line) => {
      if (isBroken) throw new Error(`cannot take ${line}`);
    });
    add("one", "two");
    expect(reports).toEqual(["Error: accessLog: the function that takes its lines failed: cannot take one"]);
    isBroken = false;
    add("three");
    isBroken = true;
    add("four");
    expect(reports).toHaveLength(2);
    expect(failures.dropped).toBe(3);
  });

  it("whose promise is rejected does the same", async () => {
    const { add, close, failures, reports } = toFunction(() => Promise.reject(new Error("no")));
    add("one", "two");
    await close();
    expect(reports).toEqual(["Error: accessLog: the function that takes its lines failed: no"]);
    expect(failures.dropped).toBe(2);
  });

  it("whose promises do not settle is asked no more, and holds up the end for two seconds at most", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let asked = 0;
    const { add, close, failures } = toFunction(() => {
      asked += 1;
      return new Promise(() => {});
    });
    add(...["1", "2", "3", "4"].map(long));
    expect([asked, failures.dropped]).toEqual([2, 2]);
    const closed = close();
    vi.advanceTimersByTime(2000);
    await closed;
    expect(failures.dropped).toBe(4);
  });

  it("is waited for at the end, and asked again once its promises have settled", async () => {
    const settle: (() => void)[] = [];
    const { add, close, failures } = toFunction(() => new Promise<void>((resolve) => settle.push(resolve)));
    add(...["1", "2", "lost"].map(long));
    expect(failures.dropped).toBe(1);
    for (const each of settle.splice(0)) each();
    await turn();
    add(long("3"));
    const closed = close();
    for (const each of settle.splice(0)) each();
    await closed;
    expect(failures.dropped).toBe(1);
  });
});

describe("a stream", () => {
  it("gets the lines in order, and stays open and as it was at the end", async () => {
    const stream = new PassThrough();
    const { add, close, failures } = toStream(stream);
    add("one", "two", "three");
    await close();
    expect(String(stream.read(stream.readableLength))).toBe("one\ntwo\nthree\n");
    expect([stream.writable, stream.listenerCount("error"), failures.dropped]).toEqual([true, 0, 0]);
  });

  it("that has ended keeps the server from starting", async () => {
    const stream = new PassThrough();
    stream.end();
    const expected = "accessLog: stream is ended or destroyed: expected one that can be written to";
    expect(() => toStream(stream)).toThrow(expected);
  });

  it("that stalls has a mebibyte at most; what goes beyond is lost and counted", async () => {
    const { stream, names, go } = stalling();
    const { add, close, failures, warnings } = toStream(stream);
    add(...["1", "2", "3", "4"].map(long));
    await turn();
    expect([names, failures.dropped, warnings]).toEqual([["1"], 2, [{ dropped: 1, droppedInAll: 1 }]]);
    go();
    await turn();
    add(long("5"));
    const closed = close();
    for (let line = 0; line < 3; line += 1) {
      go();
      await turn();
    }
    await closed;
    expect(names).toEqual(["1", "2", "5", ""]);
    failures.warn();
    expect(warnings[1]).toEqual({ dropped: 1, droppedInAll: 2 });
  });

  it("that stalls holds up no reply, and the end for two seconds at most", async () => {
    const { stream } = stalling();
    const plugin = accessLog({ stream });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const reports: unknown[] = [];
    const config = { storage: memoryStorage({ "/a.txt": "hi" }), plugins: [plugin] };
    const { url, files } = await serve({ ...config, onError: (error) => reports.push(String(error)) });
    for (let request = 0; request < 30; request += 1) expect((await send(url, "GET", "/a.txt")).text).toBe("hi");
    const closed = files.close();
    await until(() => vi.getTimerCount() > 0);
    vi.advanceTimersByTime(2000);
    await closed;
    stream.destroy(new Error("too late")); // and ends no process
    await until(() => stream.closed);
    await turn();
    expect(reports).toEqual(["Error: accessLog: its stream failed: too late"]);
  });

  it("that dies is reported once, and gets no later line", async () => {
    const { stream } = stalling();
    const { add, close, failures, reports } = toStream(stream);
    add("in the stream");
    await turn();
    stream.destroy(new Error("no more"));
    await until(() => stream.closed);
    await turn();
    add("four", "five");
    await close();
    expect(reports).toEqual(["Error: accessLog: its stream failed: no more"]);
    expect(failures.dropped).toBe(2);
  });

  it("that its owner ended is not written to", async () => {
    const stream = new PassThrough();
    const errors: unknown[] = [];
    stream.on("error", (error) => errors.push(error));
    const { add, close, failures, reports } = toStream(stream);
    stream.end();
    add("one");
    await close();
    expect([errors, failures.dropped]).toEqual([[], 1]);
    expect(reports).toEqual(["Error: accessLog: its stream failed: it ended before the server did"]);
  });
});
