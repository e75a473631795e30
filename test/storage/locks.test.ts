import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type HeldLock, type Locks, PathLock } from "../../src/storage/locks.ts";
import { deferred } from "../helpers/deferred.ts";

describe("a path lock", () => {
  it("runs the tasks of one key one after the other, in the order they came", async () => {
    const lock = new PathLock();
    const steps: string[] = [];
    const task = (name: string) => async () => {
      steps.push(`${name} begins`);
      await new Promise(setImmediate);
      steps.push(`${name} ends`);
    };
    await Promise.all(["a", "b", "c"].map((name) => lock.run("key", task(name))));
    expect(steps).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  it("tells the locks since when a task waits, those before it included", async () => {
    let now = 5;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    const waited: number[] = [];
    const refusing: Locks = {
      async acquire(_key, since = now) {
        now += 30_000;
        waited.push(now - since);
        throw new Error("busy");
      },
      tryAcquire: async () => undefined,
    };
    const lock = new PathLock(refusing);
    const task = async (): Promise<void> => {};
    await Promise.allSettled([lock.run("key", task), lock.run("key", task), lock.run("key", task)]);
    expect(waited).toEqual([30_000, 60_000, 90_000]);
  });

  it("goes on after a task that fails", async () => {
    const lock = new PathLock();
    const failing = lock.run("key", async () => {
      throw new Error("failed");
    });
    const next = lock.run("key", async () => "ran");
    await expect(failing).rejects.toThrow("failed");
    expect(await next).toBe("ran");
  });

  it("lets the caller act on the result before the next task begins", async () => {
    const lock = new PathLock();
    const steps: string[] = [];
    const announce = async (name: string): Promise<void> => {
      await lock.run("key", async () => void steps.push(`${name} changes`));
      // A caller is itself called: its own callers take a few promises each to learn of the result.
      for (let callers = 0; callers < 10; callers += 1) await undefined;
      steps.push(`${name} announced`);
    };
    await Promise.all([announce("a"), announce("b")]);
    expect(steps).toEqual(["a changes", "a announced", "b changes", "b announced"]);
  });

  it("tries a task only where the key is free", async () => {
    const lock = new PathLock();
    const { promise: opened, resolve: open } = deferred();
    const held = lock.run("key", () => opened);
    expect(await lock.tryRun("key", async () => "ran")).toBeUndefined();
    open();
    await held;
    expect(await lock.tryRun("key", async () => "ran")).toEqual({ value: "ran" });
    expect(await lock.run("key", async () => "ran after it")).toBe("ran after it");
  });
});

describe("a path lock with locks between processes", () => {
  /** Locks that write down what is done with them; `others` says whether other processes hold or want one. */
  function noted(others: { hold?: boolean; wait?: boolean } = {}): { locks: Locks; steps: string[] } {
    const steps: string[] = [];
    const held = (key: string): HeldLock => ({
      isAwaited: others.wait ?? false,
      release: () => void steps.push(`release ${key}`),
    });
    const acquire = async (key: string): Promise<HeldLock> => {
      steps.push(`acquire ${key}`);
      return held(key);
    };
    return { steps, locks: { acquire, tryAcquire: async (key) => (others.hold ? undefined : acquire(key)) } };
  }

  const twoTasks = async (locks: Locks, steps: string[]): Promise<void> => {
    const lock = new PathLock(locks);
    await Promise.all(["a", "b"].map((name) => lock.run("key", async () => void steps.push(name))));
  };

  it("passes a lock on to its next task while no other process waits for it", async () => {
    const { locks, steps } = noted();
    await twoTasks(locks, steps);
    expect(steps).toEqual(["acquire key", "a", "b", "release key"]);
  });

  it("gives a lock up between two tasks when another process waits for it", async () => {
    const { locks, steps } = noted({ wait: true });
    await twoTasks(locks, steps);
    expect(steps).toEqual(["acquire key", "a", "release key", "acquire key", "b", "release key"]);
  });

  it("tries no task whose key another process holds", async () => {
    const { locks, steps } = noted({ hold: true });
    expect(await new PathLock(locks).tryRun("key", async () => steps.push("ran"))).toBeUndefined();
    expect(steps).toEqual([]);
  });

  it("goes on after a lock that could not be had", async () => {
    const { locks, steps } = noted();
    const lock = new PathLock({ ...locks, acquire: () => Promise.reject(new Error("too busy")) });
    await expect(lock.run("key", async () => steps.push("ran"))).rejects.toThrow("too busy");
    expect(await lock.tryRun("key", async () => "ran")).toEqual({ value: "ran" });
  });
});
