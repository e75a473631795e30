import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { HttpError } from "../../../src/http/http-error.ts";
import { HashQueue } from "../../../src/plugins/basic-auth/hash-queue.ts";

/** Tasks that note when they begin, and end when they are told to. */
function tasks() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const task = (name: string) => (): Promise<string> => {
    begun.push(name);
    return new Promise((resolve) => ends.set(name, () => resolve(name)));
  };
  const end = (name: string): void => ends.get(name)?.();
  return { begun, task, end };
}

/** Lets the event loop turn until all has begun that can: the place of a task is passed on in the turn after its end. */
async function turn(): Promise<void> {
  for (let i = 0; i < 3; i++) await setImmediate();
}

describe("a hash queue", () => {
  it("gives what the task gives", async () => {
    expect(await new HashQueue().run(async () => 42)).toBe(42);
  });

  it("runs two tasks at once, and the others in the order in which they came", async () => {
    const { begun, task, end } = tasks();
    const queue = new HashQueue();
    const results = ["a", "b", "c", "d", "e"].map((name) => queue.run(task(name)));
    await turn();
    expect(begun).toEqual(["a", "b"]);
    end("b");
    await turn();
    expect(begun).toEqual(["a", "b", "c"]);
    end("a");
    end("c");
    await turn();
    expect(begun).toEqual(["a", "b", "c", "d", "e"]);
    end("d");
    end("e");
    expect(await Promise.all(results)).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("lets nobody in before those who wait", async () => {
    const { begun, task, end } = tasks();
    const queue = new HashQueue({ concurrency: 1 });
    const first = queue.run(task("first"));
    void queue.run(task("waiting"));
    await turn();
    end("first");
    await first;
    void queue.run(task("newcomer"));
    await turn();
    expect(begun).toEqual(["first", "waiting"]);
  });

  it("lets the event loop turn between tasks that never give way themselves", async () => {
    const queue = new HashQueue({ concurrency: 1 });
    let turns = 0;
    let isRunning = true;
    const count = async (): Promise<void> => {
      for (; isRunning; turns++) await setImmediate();
    };
    const counting = count();
    await Promise.all(Array.from({ length: 20 }, () => queue.run(async () => "at once")));
    isRunning = false;
    await counting;
    expect(turns).toBeGreaterThanOrEqual(19);
  });

  it("keeps the place of a task whose caller leaves just when its turn has come", async () => {
    const { begun, task, end } = tasks();
    const queue = new HashQueue({ concurrency: 1 });
    const leaving = new AbortController();
    const first = queue.run(task("first"));
    const second = queue.run(task("second"), leaving.signal);
    end("first");
    await first; // the place is passed on, the second has not begun
    leaving.abort();
    await turn();
    end("second");
    expect(await second).toBe("second");
    expect(await queue.run(async () => "third")).toBe("third");
    expect(begun).toEqual(["first", "second"]);
  });

  it("goes on after a task that throws", async () => {
    const queue = new HashQueue({ concurrency: 1 });
    const failure = new Error("no memory");
    const failing = queue.run(async () => {
      throw failure;
    });
    const next = queue.run(async () => "next");
    await expect(failing).rejects.toBe(failure);
    expect(await next).toBe("next");
    expect(await queue.run(async () => "and on")).toBe("and on");
  });

  it("refuses with 503 and a Retry-After who would wait behind too many, and takes them again later", async () => {
    const { task, end } = tasks();
    const queue = new HashQueue({ concurrency: 1, maxQueued: 2 });
    const accepted = ["a", "b", "c"].map((name) => queue.run(task(name)));
    const refusal = await queue.run(task("d")).catch((error: HttpError) => error);
    expect(refusal).toMatchObject({ status: 503, code: "OVERLOADED", headers: { "retry-after": "1" } });
    end("a");
    await turn();
    accepted.push(queue.run(task("e")));
    for (const name of ["b", "c", "e"]) {
      end(name);
      await turn();
    }
    expect(await Promise.all(accepted)).toEqual(["a", "b", "c", "e"]);
  });

  it("forgets a task whose caller gives up waiting, and gives its place to another", async () => {
    const { begun, task, end } = tasks();
    const queue = new HashQueue({ concurrency: 1, maxQueued: 1 });
    const leaving = new AbortController();
    const gone = new Error("the client left");
    void queue.run(task("running"));
    const abandoned = queue.run(task("abandoned"), leaving.signal);
    leaving.abort(gone);
    await expect(abandoned).rejects.toBe(gone);
    void queue.run(task("next"));
    end("running");
    await turn();
    expect(begun).toEqual(["running", "next"]);
  });

  it("begins nothing for a caller who has left already", async () => {
    const { begun, task } = tasks();
    const gone = new Error("the client left");
    await expect(new HashQueue().run(task("late"), AbortSignal.abort(gone))).rejects.toBe(gone);
    expect(begun).toEqual([]);
  });

  it("lets a task that runs end, whoever has left", async () => {
    const { task, end } = tasks();
    const leaving = new AbortController();
    const result = new HashQueue().run(task("running"), leaving.signal);
    leaving.abort();
    end("running");
    expect(await result).toBe("running");
  });

  it("leaves no listener on a signal whose task had its turn", async () => {
    const queue = new HashQueue({ concurrency: 1 });
    const { task, end } = tasks();
    const { signal } = new AbortController();
    const removed: string[] = [];
    signal.removeEventListener = (type: string) => removed.push(type);
    void queue.run(task("first"));
    const second = queue.run(async () => "second", signal);
    await turn();
    end("first");
    expect(await second).toBe("second");
    expect(removed).toEqual(["abort"]);
  });
});
