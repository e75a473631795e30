import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Client, type FairQueueOptions, fairQueue } from "../../src/event-loop/fair-queue.ts";

/** A queue whose tasks say when they begin, and end one turn later; nothing runs before `opened`. */
async function busyQueue(options: FairQueueOptions = {}) {
  const queue = fairQueue({ ...options, refusal: () => new Error("full") });
  const begun: string[] = [];
  const refused: string[] = [];
  let open = (): void => {};
  const blocked = queue({ address: "first" }, () => new Promise<void>((resolve) => (open = resolve)));
  const add = (name: string, client: Client, weight?: number): Promise<unknown> =>
    queue(client, () => begun.push(name), weight).catch(() => refused.push(name));
  const finish = async (...tasks: readonly Promise<unknown>[]): Promise<void> => {
    open();
    await blocked;
    await Promise.all(tasks);
  };
  return { add, begun, refused, finish };
}

describe("fairQueue", () => {
  it("gives addresses their turns, however much each of them asks for", async () => {
    const { add, begun, finish } = await busyQueue();
    const tasks = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) => add(name, { address: name.charAt(0) }));
    await finish(...tasks);
    expect(begun).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
  });

  it("gives the accounts at one address their turns of what the address gets", async () => {
    const { add, begun, finish } = await busyQueue();
    const tasks = ["ax1", "ax2", "ax3", "ay1", "b1", "b2"].map((name) =>
      add(name, { address: name.charAt(0), account: name.charAt(1) }),
    );
    await finish(...tasks);
    expect(begun).toEqual(["ax1", "b1", "ay1", "b2", "ax2", "ax3"]);
  });

  it("gives known clients every other turn", async () => {
    const { add, begun, finish } = await busyQueue();
    const tasks = ["a1", "a2", "a3", "k1", "k2"].map((name) =>
      add(name, { address: "same", isKnown: name.startsWith("k") }),
    );
    await finish(...tasks);
    expect(begun).toEqual(["a1", "k1", "a2", "k2", "a3"]);
  });

  it("refuses the newest of the address that sends the most when too many wait", async () => {
    const { add, begun, refused, finish } = await busyQueue({ maxWaiting: 3 });
    const flood = ["a1", "a2", "a3", "a4", "a5"].map((name) => add(name, { address: "a" }));
    const other = add("b1", { address: "b" });
    const known = ["k1", "k2", "k3"].map((name) => add(name, { address: "a", isKnown: true }));
    await finish(...flood, other, ...known);
    expect(refused).toEqual(["a4", "a5", "a3"]);
    expect([...begun].sort()).toEqual(["a1", "a2", "b1", "k1", "k2", "k3"]);
  });

  it("goes by the weight of tasks", async () => {
    const { add, begun, refused, finish } = await busyQueue({ maxWaiting: 10 });
    const tasks = [
      add("a", { address: "a" }, 6),
      add("b", { address: "b" }, 4),
      add("c", { address: "c" }, 1),
      add("d", { address: "d" }, 20),
    ];
    await finish(...tasks);
    expect([begun, refused]).toEqual([
      ["b", "c"],
      ["a", "d"],
    ]);
  });

  it("goes on after a task that fails, and runs as many at once as it should", async () => {
    const queue = fairQueue({ concurrency: 2 });
    let running = 0;
    let most = 0;
    const task = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      throw new Error("failed");
    };
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => queue({ address: "a" }, task)));
    expect(results.map(({ status }) => status)).toEqual(Array(5).fill("rejected"));
    expect(most).toBe(2);
  });
});
