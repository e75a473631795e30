import { beforeEach, describe, expect, it } from "vitest";
import { SlicedQueue } from "../../src/event-loop/sliced-queue.ts";
import type { SlicedWork } from "../../src/event-loop/sliced-work.ts";
import { TimeSlice } from "../../src/event-loop/time-slice.ts";
import { type SteppedClock, stepClock } from "../helpers/counted-work.ts";

/** A slice that is over after one piece, and says when it rests. */
class OnePiece extends TimeSlice {
  readonly #rested: () => void;

  constructor(rested: () => void) {
    super(0);
    this.#rested = rested;
  }

  override async rest(): Promise<void> {
    this.#rested();
  }
}

/** Work of some pieces; the first keeps the event loop until it is not worth doing more at once. */
function* pieces(name: string, count: number, done: string[]): SlicedWork<string> {
  clock.pass(2);
  for (let index = 1; index <= count; index += 1) {
    yield;
    done.push(`${name}${index}`);
  }
  return name;
}

let clock: SteppedClock;

beforeEach(() => {
  clock = stepClock(0);
});

describe("SlicedQueue", () => {
  it("does what takes a moment at once", () => {
    function* little(): SlicedWork<number> {
      yield;
      return 42;
    }
    expect(new SlicedQueue().do(little(), { address: "a" })).toBe(42);
  });

  it("gives clients their turns slice by slice, and rests between any two", async () => {
    const done: string[] = [];
    const queue = new SlicedQueue(() => new OnePiece(() => done.push("rest")));
    const works = [
      queue.do(pieces("a", 3, done), { address: "a" }),
      queue.do(pieces("b", 1, done), { address: "b" }),
      queue.do(pieces("c", 3, done), { address: "c" }),
    ];
    expect(await Promise.all(works)).toEqual(["a", "b", "c"]);
    const order = done.filter((each) => each !== "rest");
    expect(order).toEqual(["a1", "b1", "c1", "a2", "c2", "a3", "c3"]);
    const slices = done
      .join(" ")
      .split("rest")
      .map((slice) => slice.trim());
    expect(Math.max(...slices.map((slice) => slice.split(" ").length))).toBe(1);
  });

  it("fails as the work does", async () => {
    function* failing(): SlicedWork<void> {
      yield* pieces("x", 1, []);
      throw new Error("no");
    }
    await expect(new SlicedQueue().do(failing(), { address: "a" })).rejects.toThrow("no");
  });
});
