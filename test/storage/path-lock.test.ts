import { describe, expect, it } from "vitest";
import { PathLock } from "../../src/storage/path-lock.ts";
import { gate } from "./content.ts";

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

  it("does not let different keys wait for each other", async () => {
    const lock = new PathLock();
    const { opened, open } = gate();
    const held = lock.run("one", () => opened);
    expect(await lock.run("other", async () => "ran")).toBe("ran");
    open();
    await held;
  });

  it("gives what the task gives", async () => {
    expect(await new PathLock().run("key", async () => 7)).toBe(7);
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

  it("goes on after a task that throws before it returns a promise", async () => {
    const lock = new PathLock();
    const failing = lock.run("key", () => {
      throw new Error("failed");
    });
    await expect(failing).rejects.toThrow("failed");
    expect(await lock.run("key", async () => "ran")).toBe("ran");
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

  it("starts at once when nobody holds the key", () => {
    let hasStarted = false;
    void new PathLock().run("key", async () => {
      hasStarted = true;
    });
    // `run` awaits nothing that takes a turn of the event loop.
    return Promise.resolve().then(() => expect(hasStarted).toBe(true));
  });
});
