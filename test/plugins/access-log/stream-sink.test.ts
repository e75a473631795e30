import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { AccessLogEntry } from "../../../src/plugins/access-log/entry.ts";
import { LogFailures } from "../../../src/plugins/access-log/log-failures.ts";
import { StreamSink } from "../../../src/plugins/access-log/stream-sink.ts";
import { accessLog } from "../../../src/plugins/access-log.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { send } from "../../helpers/send.ts";
import { serve } from "../../helpers/serve.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { aSite, type TestSite } from "./a-site.ts";
import { until } from "./collected.ts";

type Given = ConstructorParameters<typeof StreamSink>[0];

async function openSink(
  stream: Given,
  maxQueuedBytes = 1000,
): Promise<TestSite & { sink: StreamSink; failures: LogFailures }> {
  const failures = new LogFailures();
  const sink = new StreamSink(stream, failures, maxQueuedBytes);
  const test = aSite();
  failures.site = test.site;
  await sink.start();
  return { ...test, sink, failures };
}

/** A stream that takes a write only when told to. */
function stalling(): { stream: Writable; chunks: string[]; go: () => void } {
  const chunks: string[] = [];
  let taken: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: 10,
    write(chunk, _encoding, callback) {
      chunks.push(String(chunk));
      taken = callback;
    },
  });
  return { stream, chunks, go: () => taken?.() };
}

const entry = (): AccessLogEntry => ({ url: "/" }) as AccessLogEntry;
const turn = (): Promise<void> => new Promise(setImmediate);
const listeners = (stream: Writable): number[] =>
  ["error", "close", "drain"].map((event) => stream.listenerCount(event));

afterEach(() => void vi.useRealTimers());

describe("a stream", () => {
  it("gets the lines in order, and stays open and as it was at the end", async () => {
    const stream = new PassThrough();
    const before = listeners(stream);
    const { sink, failures } = await openSink(stream);
    for (const line of ["one", "two", "three"]) sink.add(line, entry);
    await sink.close();
    expect(String(stream.read())).toBe("one\ntwo\nthree\n");
    expect([stream.writable, failures.dropped]).toEqual([true, 0]);
    expect(listeners(stream)).toEqual(before);
  });

  it("serves several hosts with one set of listeners", async () => {
    const stream = new PassThrough();
    const { sink } = await openSink(stream);
    const once = listeners(stream);
    await sink.start();
    expect(listeners(stream)).toEqual(once);
    await sink.close();
  });

  it("that writes a file has it all when the server has closed", async () => {
    const file = join(await temporaryDirectory(), "access.log");
    const stream = createWriteStream(file);
    const { url, files } = await serve({ storage: memoryStorage(), plugins: [accessLog({ stream })] });
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(url, "GET", `/${index}`)));
    await files.close();
    expect((await readFile(file, "utf8")).split("\n")).toHaveLength(21);
    stream.end();
    await once(stream, "close");
  });

  it("that has ended keeps the server from starting", async () => {
    const stream = new PassThrough();
    stream.end();
    await expect(new StreamSink(stream, new LogFailures()).start()).rejects.toThrow(
      "accessLog: stream is ended or destroyed: expected one that can be written to",
    );
  });

  it("of a library that neither calls back nor has a length will do", async () => {
    const written: string[] = [];
    const stream = { on: () => stream, off: () => stream, write: (chunk: unknown) => written.push(String(chunk)) > 0 };
    const { sink, failures } = await openSink(stream as unknown as Given);
    sink.add("one", entry);
    await sink.close();
    expect([written, failures.dropped]).toEqual([["one\n"], 0]);
  });
});

describe("a stream that stalls", () => {
  it("has so many bytes at most; what goes beyond is lost and counted", async () => {
    const { stream, chunks, go } = stalling();
    const { sink, failures, warnings } = await openSink(stream, 40);
    sink.add("the first line", entry);
    for (let line = 0; line < 10; line += 1) sink.add(`line ${line}`, entry); // 6 characters each
    await turn();
    expect([chunks, stream.writableLength]).toEqual([["the first line\n"], 43]);
    expect(failures.dropped).toBe(6);
    expect(warnings).toEqual([{ dropped: 1, droppedInAll: 1 }]);
    go();
    await turn();
    sink.add("later", entry);
    const closed = sink.close();
    for (let line = 0; line < 5; line += 1) {
      go();
      await turn();
    }
    await closed;
    expect(chunks).toEqual(["the first line\n", "line 0\n", "line 1\n", "line 2\n", "line 3\n", "later\n"]);
    failures.warn();
    expect(warnings[1]).toEqual({ dropped: 5, droppedInAll: 6 });
  });

  it("holds up no reply", async () => {
    const { stream } = stalling();
    const plugin = accessLog({ stream });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { url, files } = await serve({ storage: memoryStorage({ "/a.txt": "hi" }), plugins: [plugin] });
    for (let request = 0; request < 30; request += 1) expect((await send(url, "GET", "/a.txt")).text).toBe("hi");
    const closed = files.close();
    await until(() => vi.getTimerCount() > 0);
    vi.advanceTimersByTime(2000);
    await closed;
    expect(plugin.dropped).toBe(30);
  });

  it("holds up the end for two seconds at most, and may then fail without ending the process", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { stream } = stalling();
    const { sink, failures, reports } = await openSink(stream);
    sink.add("the first line", entry);
    await turn();
    sink.add("the second line", entry);
    const closed = sink.close();
    vi.advanceTimersByTime(2000);
    await closed;
    expect(failures.dropped).toBe(2); // the one in the stream may yet arrive, but nobody knows
    stream.destroy(new Error("too late"));
    await until(() => stream.closed);
    await turn();
    expect([failures.dropped, reports]).toEqual([2, ["Error: accessLog: its stream failed: too late"]]);
  });
});

describe("a stream that dies", () => {
  it("is reported once; all later lines are lost and counted", async () => {
    const stream = new PassThrough();
    const { sink, failures, reports } = await openSink(stream);
    stream.destroy(new Error("no more"));
    await until(() => stream.closed);
    await turn();
    for (const line of ["one", "two"]) sink.add(line, entry);
    await turn();
    await sink.close();
    expect(reports).toEqual(["Error: accessLog: its stream failed: no more"]);
    expect(failures.dropped).toBe(2);
  });

  it("takes along what it had and what was queued", async () => {
    const { stream } = stalling();
    const { sink, failures } = await openSink(stream);
    sink.add("the first line", entry);
    await turn();
    for (const line of ["two", "three"]) sink.add(line, entry);
    stream.destroy();
    await until(() => stream.closed);
    await turn();
    expect(failures.dropped).toBe(3);
    await sink.close();
  });

  it("because its owner ended it is not written to", async () => {
    const stream = new PassThrough();
    const errors: unknown[] = [];
    stream.on("error", (error) => errors.push(error));
    const { sink, failures, reports } = await openSink(stream);
    stream.end();
    sink.add("one", entry);
    await turn();
    await sink.close();
    expect([errors, failures.dropped]).toEqual([[], 1]);
    expect(reports).toEqual(["Error: accessLog: its stream failed: it ended before the server did"]);
  });

  it("because the other end of a socket has gone fails no request", async () => {
    const collector = createServer().listen(0, "127.0.0.1");
    await once(collector, "listening");
    const stream = connect((collector.address() as { port: number }).port, "127.0.0.1");
    const [other] = (await once(collector, "connection")) as [Socket];
    collector.close();
    const reports: unknown[] = [];
    const plugin = accessLog({ stream });
    const { url, files } = await serve({
      storage: memoryStorage(),
      plugins: [plugin],
      onError: (error) => reports.push(error),
    });
    await files.ready();
    other.resetAndDestroy();
    for (const _ of [1, 2, 3]) expect((await send(url, "GET", "/none")).status).toBe(404);
    await until(() => stream.closed);
    for (const _ of [1, 2, 3]) expect((await send(url, "GET", "/none")).status).toBe(404);
    await files.close();
    expect(plugin.dropped).toBeGreaterThanOrEqual(3);
    expect(reports).toHaveLength(1);
  });

  it("in the middle of a write that throws loses that line only", async () => {
    let isBroken = true;
    const written: string[] = [];
    const stream = {
      on: () => stream,
      off: () => stream,
      write(chunk: unknown) {
        if (isBroken) throw new Error("broken");
        return written.push(String(chunk)) > 0;
      },
    };
    const { sink, failures, reports } = await openSink(stream as unknown as Given);
    sink.add("one", entry);
    await turn();
    isBroken = false;
    sink.add("two", entry);
    await sink.close();
    expect([written, failures.dropped]).toEqual([["two\n"], 1]);
    expect(reports).toEqual(["Error: accessLog: its stream failed: broken"]);
  });
});
