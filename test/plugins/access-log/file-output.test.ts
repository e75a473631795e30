import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs, { constants } from "node:fs";
import { type FileHandle, open, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { fileOutput } from "../../../src/plugins/access-log/file-output.ts";
import { LogFailures, type Output } from "../../../src/plugins/access-log/output.ts";
import { accessLog } from "../../../src/plugins/access-log.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { runNode } from "../../helpers/run-node.ts";
import { send } from "../../helpers/send.ts";
import { serve } from "../../helpers/serve.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { until } from "../../helpers/until.ts";
import { aSite, type TestSite } from "./a-site.ts";
import { parseCommon } from "./parse.ts";

interface Opened extends TestSite {
  readonly log: Required<Output>;
  readonly failures: LogFailures;
  add(...lines: string[]): void;
}

async function openLog(file: string): Promise<Opened> {
  const failures = new LogFailures();
  const log = fileOutput(file, failures) as Required<Output>;
  const test = aSite();
  failures.site = test.site;
  await log.start(test.site);
  onTestFinished(() => log.close());
  const noEntry = (): never => expect.unreachable();
  return { ...test, log, failures, add: (...lines) => lines.forEach((line) => void log.add(line, noEntry)) };
}

const linesOf = async (...files: string[]): Promise<string[]> => {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return texts.join("").split("\n").slice(0, -1);
};
const numbered = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);

afterEach(() => void vi.useRealTimers());

describe("a file", () => {
  it("is made where it is not there, appended to where it is, and not for others to read", async () => {
    const file = join(await temporaryDirectory(), "access.log");
    for (const line of ["one", "two"]) {
      const { log, add, protectedPlaces } = await openLog(file);
      expect(protectedPlaces).toEqual([file]);
      add(line);
      await log.close();
    }
    expect(await linesOf(file)).toEqual(["one", "two"]);
    expect((await stat(file)).mode & 0o037).toBe(0);
  });

  it.each([
    ["whose directory is missing", "none/access.log", "ENOENT"],
    ["that is a directory", "", "EISDIR"],
  ])("%s keeps the server from starting, and the error names the option", async (_which, name, code) => {
    const file = join(await temporaryDirectory(), name);
    const { site } = aSite();
    await expect(fileOutput(file, new LogFailures()).start?.(site)).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      problems: [expect.stringContaining(`accessLog: file is "${file}": expected one that can be written to: ${code}`)],
    });
  });

  it("gets what is queued at the end, and loses what comes later", async () => {
    const file = join(await temporaryDirectory(), "access.log");
    const { log, add, failures } = await openLog(file);
    add("one");
    const closed = log.close();
    await closed;
    add("late");
    expect(await linesOf(file)).toEqual(["one"]);
    expect(failures.dropped).toBe(1);
  });

  it("loses what goes beyond the queue, and counts it", async () => {
    const file = join(await temporaryDirectory(), "access.log");
    const { log, add, failures, warnings } = await openLog(file);
    const lines = numbered(10).map((line) => line.padEnd(250_000));
    add(...lines);
    await log.close();
    failures.warn();
    expect(await linesOf(file)).toEqual(lines.slice(0, 4));
    expect(warnings).toEqual([
      { dropped: 1, droppedInAll: 1 },
      { dropped: 5, droppedInAll: 6 },
    ]);
  });
});

describe("reopening", () => {
  it("goes on in a new file after the old one was renamed, with no line lost or written twice", async () => {
    const file = join(await temporaryDirectory(), "access.log");
    const plugin = accessLog({ file, format: "common" });
    const { url, files } = await serve({ storage: memoryStorage(), plugins: [plugin] });
    const rotated: string[] = [];
    let sent = 0;
    const client = async (): Promise<void> => {
      while (sent < 300) {
        sent += 1;
        await send(url, "GET", `/${sent}`);
      }
    };
    const clients = Promise.all(Array.from({ length: 8 }, client));
    for (let rotation = 0; rotation < 5; rotation += 1) {
      await send(url, "GET", `/rotation-${rotation}`);
      rotated.push(`${file}.${rotation}`);
      await rename(file, `${file}.${rotation}`);
      await plugin.reopen();
    }
    await clients;
    await files.close();
    const lines = (await linesOf(...rotated, file)).map((line) => parseCommon(line).request);
    expect(new Set(lines).size).toBe(305);
    expect(lines).toHaveLength(305);
    expect(plugin.dropped).toBe(0);
  });

  it("makes the file again where it was removed", async () => {
    const file = join(await temporaryDirectory(), "access.log");
    const { log, add, protectedPlaces } = await openLog(file);
    await rm(file);
    await log.reopen();
    add("one");
    await log.close();
    expect(await linesOf(file)).toEqual(["one"]);
    expect(protectedPlaces).toEqual([file, file]);
  });

  it("fails where the file cannot be opened, and the old one goes on", async () => {
    const directory = await temporaryDirectory();
    const file = join(directory, "access.log");
    const { log, add } = await openLog(file);
    await rename(file, `${file}.1`);
    await symlink(join(directory, "none", "access.log"), file);
    await expect(log.reopen()).rejects.toMatchObject({ code: "ENOENT" });
    add("one");
    await log.close();
    expect(await linesOf(`${file}.1`)).toEqual(["one"]);
  });
});

describe("a file that cannot be written to", { tags: ["linux"] }, () => {
  it("is reported once, and has its lines in a better place from the reopening on", async () => {
    const directory = await temporaryDirectory();
    const file = join(directory, "access.log");
    await symlink("/dev/full", file); // every write fails with ENOSPC
    const { log, add, reports } = await openLog(file);
    add("one", "two");
    await until(() => reports.length > 0);
    await rm(file);
    await writeFile(file, "");
    await log.reopen();
    add("three");
    await log.close();
    expect(await linesOf(file)).toEqual(["three"]);
    expect(reports).toEqual([expect.stringMatching(/^Error: accessLog: cannot write to \/.*access\.log: ENOSPC/)]);
  });

  it("gets what it did not take with the next line, once it takes it", async () => {
    const file = join(await temporaryDirectory(), "access.log");
    const { log, add, failures, reports } = await openLog(file);
    let isFull = true;
    const write = fs.write;
    const spy = vi.spyOn(fs, "write").mockImplementation(((...parameters: unknown[]) => {
      const called = parameters.at(-1) as (error: Error) => void;
      if (isFull) setImmediate(called, Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }));
      else Reflect.apply(write, fs, parameters);
    }) as typeof fs.write);
    onTestFinished(() => spy.mockRestore());
    add("one");
    await until(() => reports.length > 0);
    isFull = false;
    add("two");
    await log.close();
    expect(await linesOf(file)).toEqual(["one", "two"]);
    expect([reports.length, failures.dropped]).toEqual([1, 0]);
  });
});

describe("standard output", { tags: ["linux"] }, () => {
  const program = fileURLToPath(new URL("log-to-stdout.mjs", import.meta.url));

  it("is written to where it is a socket, as under systemd, which cannot be opened again", async () => {
    const { ended, printed } = runNode([program]); // whose pipes are sockets
    expect((await ended).code).toBe(0);
    expect(printed.stdout).toMatch(/^ENXIO\n.*"GET \/logged HTTP\/1\.1" 404.*\n$/);
  });

  it("is written to where another user has opened it", { tags: ["root"] }, async () => {
    const path = join(await temporaryDirectory(), "log");
    const file = await open(path, "wx", 0o600);
    onTestFinished(() => file.close());
    const child = spawn(process.execPath, [program, "65534"], { stdio: ["ignore", file.fd, "inherit"] });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(await readFile(path, "utf8")).toMatch(/^EACCES\n.*"GET \/logged HTTP\/1\.1" 404.*\n$/);
  });
});

describe("a named pipe", { tags: ["mkfifo"] }, () => {
  const makePipe = async (): Promise<string> => {
    const pipe = join(await temporaryDirectory(), "pipe");
    execFileSync("mkfifo", [pipe]);
    return pipe;
  };

  it("that nobody reads keeps the server from starting, instead of hanging", async () => {
    const { site } = aSite();
    await expect(fileOutput(await makePipe(), new LogFailures()).start?.(site)).rejects.toThrow("ENXIO");
  });

  it("whose reader stalls fills the queue; later it gets each line that was taken, whole and once", async () => {
    const pipe = await makePipe();
    const reader = await open(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => reader.close());
    const { log, add, failures, reports } = await openLog(pipe);
    let count = 0;
    while (failures.dropped === 0) {
      add(...numbered(1000, count)); // the pipe itself holds 64 KiB
      count += 1000;
      await new Promise(setImmediate);
    }
    const taken = count - failures.dropped;
    const text = await readUntil(reader, (text) => text.split("\n").length > taken);
    expect(text.split("\n").slice(0, -1)).toEqual(numbered(taken));
    expect(reports).toEqual([]);
    await log.close();
  });
});

/** What comes out of a pipe, up to where it is enough. */
async function readUntil(pipe: FileHandle, isEnough: (text: string) => boolean): Promise<string> {
  const buffer = Buffer.alloc(65_536);
  let text = "";
  while (!isEnough(text)) {
    const { bytesRead } = await pipe.read(buffer).catch((error) => {
      if (error.code !== "EAGAIN") throw error;
      return { bytesRead: 0 };
    });
    text += buffer.toString("latin1", 0, bytesRead);
  }
  return text;
}
