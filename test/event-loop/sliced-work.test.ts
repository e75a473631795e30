import { performance } from "node:perf_hooks";
import { beforeEach, describe, expect, it, onTestFinished, test, vi } from "vitest";
import { inFairSlices, inSlices, itemsInSlices, type SlicedWork, TimeSlice } from "../../src/event-loop/sliced-work.ts";
import { type SteppedClock, stepClock } from "../helpers/counted-work.ts";

/** Work in a number of pieces, each of which calls `piece`. */
function* pieces(count: number, piece: (index: number) => void = () => {}): SlicedWork<string> {
  for (let index = 0; index < count; index += 1) {
    piece(index);
    yield;
  }
  return `${count} pieces`;
}

test("itemsInSlices lets others have their turn between items", async () => {
  const [clock, turns] = [stepClock(0), [] as string[]];
  for await (const item of itemsInSlices(["a", "b"])) {
    setImmediate(() => turns.push(item));
    clock.pass(10);
  }
  expect(turns).toEqual(["a"]);
});

describe("inSlices", () => {
  it("gives the result at once where one slice is enough", () => {
    stepClock(0);
    expect(inSlices(pieces(1))).toBe("1 pieces");
  });

  it("lets others have their turn between slices", async () => {
    const clock = stepClock(0);
    const turns: string[] = [];
    const result = inSlices(
      pieces(3, (index) => {
        turns.push(`piece ${index}`);
        setImmediate(() => turns.push("other"));
        clock.pass(10);
      }),
    );
    expect(turns).toEqual(["piece 0"]);
    expect(await result).toBe("3 pieces");
    expect(turns.slice(0, 5)).toEqual(["piece 0", "other", "piece 1", "other", "piece 2"]);
  });

  it("fails as the work does, in whichever slice", async () => {
    const clock = stepClock(0);
    const failing = (at: number): SlicedWork<string> =>
      pieces(3, (index) => {
        clock.pass(10);
        if (index === at) throw new Error(`piece ${at}`);
      });
    expect(() => inSlices(failing(0))).toThrow("piece 0");
    await expect(inSlices(failing(2))).rejects.toThrow("piece 2");
  });
});

describe("TimeSlice", () => {
  it("is over after some milliseconds of work, and begins anew when renewed", async () => {
    const clock = stepClock(0);
    const slice = new TimeSlice();
    clock.pass(4);
    expect(slice.isOver).toBe(false);
    clock.pass(1);
    expect(slice.isOver).toBe(true);
    await slice.renew();
    expect(slice.isOver).toBe(false);
  });

  it("lets others have their turn", async () => {
    const turns: string[] = [];
    setImmediate(() => turns.push("other"));
    await new TimeSlice().renew();
    expect(turns).toEqual(["other"]);
  });

  it("rests until its time has passed again, or nobody needs the event loop", async () => {
    const clock = stepClock(0);
    const usage = vi.spyOn(performance, "eventLoopUtilization");
    onTestFinished(() => usage.mockRestore());
    const [needed, long] = [new TimeSlice(), new TimeSlice()];
    clock.pass(20);
    let turns = 0;
    let isResting = true;
    const busy = (): void => {
      turns += 1;
      clock.pass(1);
      if (isResting) setImmediate(busy);
    };
    setImmediate(busy);
    usage.mockReturnValue({ idle: 0, active: 1000, utilization: 1 });
    await needed.rest();
    isResting = false;
    expect(turns).toBeGreaterThanOrEqual(20);

    const usedBefore = usage.mock.calls.length;
    usage.mockReturnValue({ idle: 1000, active: 0, utilization: 0 });
    await long.rest(); // the clock stands still now
    expect(usage.mock.calls.length - usedBefore).toBe(2); // before it rests for a moment, and behind
  });
});

/** Work of some pieces, each of which fills a slice. */
function* namedPieces(name: string, count: number, done: string[]): SlicedWork<string> {
  clock.pass(5);
  for (let index = 1; index <= count; index += 1) {
    yield;
    done.push(`${name}${index}`);
    clock.pass(5);
  }
  return name;
}

let clock: SteppedClock;

describe("inFairSlices", () => {
  beforeEach(() => {
    clock = stepClock(0);
  });

  it("does what takes a moment at once", () => {
    function* little(): SlicedWork<number> {
      yield;
      return 42;
    }
    expect(inFairSlices(little(), { address: "a" })).toBe(42);
  });

  it("gives clients their turns slice by slice, and rests between any two", async () => {
    const done: string[] = [];
    const rests = vi.spyOn(TimeSlice.prototype, "rest").mockImplementation(async () => void done.push("rest"));
    onTestFinished(() => rests.mockRestore());
    const works = [
      inFairSlices(namedPieces("a", 3, done), { address: "a" }),
      inFairSlices(namedPieces("b", 1, done), { address: "b" }),
      inFairSlices(namedPieces("c", 3, done), { address: "c" }),
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
      yield* namedPieces("x", 1, []);
      throw new Error("no");
    }
    await expect(inFairSlices(failing(), { address: "a" })).rejects.toThrow("no");
  });
});
