import { type ChildProcess, execFile } from "node:child_process";
import { hash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { machineLocks } from "../../../src/storage/disk/disk-locks.ts";
import { runNode } from "../../helpers/run-node.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { compiled } from "../compiled.ts";

const holdLock = compiled("hold-lock");

describe("a lock of the machine", { tags: ["linux"] }, () => {
  // Locks that another call gave are as those of another process: they know nothing of each other.
  it("is held by one process at a time", async () => {
    const [mine, yours, key] = [machineLocks(), machineLocks(), randomUUID()];
    const held = await mine.acquire(key);
    expect(await yours.tryAcquire(key)).toBeUndefined();
    held.release();
    const taken = await yours.tryAcquire(key);
    expect(taken).toBeDefined();
    taken?.release();
  });

  it("is refused at once to a task that has waited long enough elsewhere", async () => {
    const [mine, yours, key] = [machineLocks(), machineLocks(), randomUUID()];
    const held = await mine.acquire(key);
    const tooLong = -3_600_000; // on a clock that began at 0 with this process
    await expect(yours.acquire(key, tooLong)).rejects.toMatchObject({ code: "busy" });
    held.release();
    (await yours.acquire(key, tooLong)).release();
  });

  it("goes to one who waits, of whom the holder knows", async () => {
    const [mine, yours, key] = [machineLocks(), machineLocks(), randomUUID()];
    const held = await mine.acquire(key);
    expect(held.isAwaited).toBe(false);
    const waiting = yours.acquire(key);
    while (!held.isAwaited) await new Promise(setImmediate);
    held.release();
    (await waiting).release();
  });

  it("is not taken again at once by a process that gave it up to others", async () => {
    const order: string[] = [];
    const [yours, key] = [machineLocks(), randomUUID()];
    let theirs: Promise<void> | undefined;
    const mine = machineLocks(undefined, async () => theirs);
    const held = await mine.acquire(key);
    theirs = yours.acquire(key).then((lock) => {
      order.push("yours");
      lock.release();
    });
    while (!held.isAwaited) await new Promise(setImmediate);
    held.release();
    const again = mine.acquire(key).then((lock) => {
      order.push("mine again");
      lock.release();
    });
    await Promise.all([theirs, again]);
    expect(order).toEqual(["yours", "mine again"]);
  });

  it("ends with a process that is killed", async () => {
    const key = randomUUID();
    const holder = runNode([holdLock(), key]);
    await holder.waitFor(/held/);
    const locks = machineLocks();
    expect(await locks.tryAcquire(key)).toBeUndefined();
    const waiting = locks.acquire(key);
    holder.kill("SIGKILL");
    (await waiting).release();
  });

  it("is busy for those whose patience ends before the holder's work", async () => {
    const [mine, impatient, key] = [machineLocks(), machineLocks(20), randomUUID()];
    const held = await mine.acquire(key);
    await expect(impatient.acquire(key)).rejects.toMatchObject({ name: "StorageError", code: "busy" });
    held.release();
  });

  it("does not tell the machine what is locked, and has the name that all versions of Node take, once", async () => {
    const key = `/srv/secret/${randomUUID()}`;
    const held = await machineLocks().acquire(key);
    const sockets = await readFile("/proc/net/unix", "utf8");
    held.release();
    expect(sockets).not.toContain("secret");
    const hashed = hash("sha512", key, "hex");
    const names = sockets.split("\n").filter((line) => line.includes(hashed.slice(0, 97)));
    // Node 20 would fill the shorter name up, so that nobody else had it.
    expect(names.map((line) => line.slice(line.indexOf("@"))).sort()).toEqual([
      ...(process.versions.node.startsWith("20.") ? [] : [`@filement-${hashed.slice(0, 97)}`]),
      `@filement-${hashed.slice(0, 98)}`,
    ]);
  });

  it("of Bun keeps Bun out", { tags: ["bun"] }, () => keepsOut(["bun"], ["bun"]));

  it("of Deno keeps Node and Bun out", { tags: ["bun", "deno", "campaign"] }, async () => {
    await keepsOut(["deno", "run", "-A"], ["bun"]);
    await keepsOut(["deno", "run", "-A"], [process.execPath]);
  });

  async function keepsOut(holder: readonly string[], other: readonly string[]): Promise<void> {
    const [key, ending] = [randomUUID(), new AbortController()];
    const run = ([program = "", ...options]: readonly string[]) =>
      execFile(program, [...options, holdLock(), key], { signal: ending.signal });
    const holding = run(holder);
    holding.on("error", () => {}); // it is ended
    expect(await textOf(holding)).toBe("held\n");
    expect(await textOf(run(other))).toBe("taken\n");
    ending.abort();
    await once(holding, "close");
  }
});

/** What a process says first. */
async function textOf({ stdout }: ChildProcess): Promise<unknown> {
  return (await once(stdout as Readable, "data"))[0];
}

describe("where there are no such sockets", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.resetModules();
  });

  it("says so", async () => {
    vi.resetModules();
    vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
    const { lockProblem, machineLocks } = await import("../../../src/storage/disk/disk-locks.ts");
    expect(await lockProblem()).toBe("darwin has no locks that end with a process");
    const [mine, yours] = [await machineLocks().tryAcquire("/a"), await machineLocks().tryAcquire("/a")];
    expect([mine, yours]).not.toContain(undefined);
  });

  it("is told when a server starts that can write to a directory", async () => {
    vi.resetModules();
    vi.spyOn(process, "platform", "get").mockReturnValue("darwin");
    const { createFileServer } = await import("../../../src/file-server.ts");
    const root = await temporaryDirectory();
    const warningsOf = async (readOnly: boolean): Promise<readonly string[]> => {
      const warnings: string[] = [];
      const warn = (_fields: object, message: string): unknown => warnings.push(message);
      const files = createFileServer({ root, readOnly, logger: { debug() {}, info() {}, error() {}, warn } });
      await files.ready();
      await files.close();
      return warnings;
    };
    const warning = `no other process should write to ${root}: darwin has no locks that end with a process`;
    expect(await warningsOf(false)).toContain(warning);
    expect(await warningsOf(true)).toEqual([]);
  });
});
