import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { machineLocks } from "../../../src/storage/disk/disk-locks.ts";
import type { Locks } from "../../../src/storage/locks.ts";
import { runNode } from "../../helpers/run-node.ts";
import { compiled } from "../compiled.ts";

const holdLock = compiled("hold-lock");

/** Locks as another process of this machine has them; they know nothing of each other. */
function locksOfAProcess(...options: Parameters<typeof machineLocks>): Locks {
  const locks = machineLocks(...options);
  if (!locks) throw new Error("there are machine locks on Linux only");
  return locks;
}

describe("a lock of the machine", { tags: ["linux"] }, () => {
  it("is held by one process at a time", async () => {
    const [mine, yours, key] = [locksOfAProcess(), locksOfAProcess(), randomUUID()];
    const held = await mine.acquire(key);
    expect(await yours.tryAcquire(key)).toBeUndefined();
    held.release();
    const taken = await yours.tryAcquire(key);
    expect(taken).toBeDefined();
    taken?.release();
  });

  it("is refused at once to a task that has waited long enough elsewhere", async () => {
    const [mine, yours, key] = [locksOfAProcess(), locksOfAProcess(), randomUUID()];
    const held = await mine.acquire(key);
    const tooLong = -3_600_000; // on a clock that began at 0 with this process
    await expect(yours.acquire(key, tooLong)).rejects.toMatchObject({ code: "busy" });
    held.release();
    (await yours.acquire(key, tooLong)).release();
  });

  it("does not keep those of other keys waiting", async () => {
    const [mine, yours] = [locksOfAProcess(), locksOfAProcess()];
    const [one, other] = [await mine.acquire(randomUUID()), await yours.acquire(randomUUID())];
    expect([one.isAwaited, other.isAwaited]).toEqual([false, false]);
    one.release();
    other.release();
  });

  it("goes to one who waits, of whom the holder knows", async () => {
    const [mine, yours, key] = [locksOfAProcess(), locksOfAProcess(), randomUUID()];
    const held = await mine.acquire(key);
    expect(held.isAwaited).toBe(false);
    const waiting = yours.acquire(key);
    while (!held.isAwaited) await new Promise(setImmediate);
    held.release();
    (await waiting).release();
  });

  it("is not taken again at once by a process that gave it up to others", async () => {
    const order: string[] = [];
    const [yours, key] = [locksOfAProcess(), randomUUID()];
    let theirs: Promise<void> | undefined;
    const mine = locksOfAProcess(undefined, async () => theirs);
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
    const locks = locksOfAProcess();
    expect(await locks.tryAcquire(key)).toBeUndefined();
    const waiting = locks.acquire(key);
    holder.kill("SIGKILL");
    (await waiting).release();
  });

  it("is busy for those whose patience ends before the holder's work", async () => {
    const [mine, impatient, key] = [locksOfAProcess(), locksOfAProcess(20), randomUUID()];
    const held = await mine.acquire(key);
    await expect(impatient.acquire(key)).rejects.toMatchObject({ name: "StorageError", code: "busy" });
    held.release();
  });

  it("tells nobody on the machine what is locked, and has the longest name there is", async () => {
    const key = `/srv/secret/${randomUUID()}`;
    const held = await locksOfAProcess().acquire(key);
    const sockets = await readFile("/proc/net/unix", "utf8");
    held.release();
    expect(sockets).not.toContain("secret");
    expect(sockets).toMatch(/@filement-[0-9a-f]{98}\n/);
  });
});
