import { describe, expect, it } from "vitest";
import { atOnce, demand, inSlices, patiently, type SlicedWork } from "../../src/event-loop/sliced-work.ts";
import { stepClock } from "../helpers/counted-work.ts";

/** Work in a number of pieces, each of which calls `piece`. */
function* pieces(count: number, piece: (index: number) => void = () => {}): SlicedWork<string> {
  for (let index = 0; index < count; index += 1) {
    piece(index);
    yield;
  }
  return `${count} pieces`;
}

describe("inSlices", () => {
  it("gives the result at once where one slice is enough", () => {
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

describe("demand", () => {
  it("gives the result of a single piece at once", () => {
    expect(demand(pieces(0))).toBe("0 pieces");
  });

  it("leaves more than one piece to the nearest patiently, which asks again when it is done", () => {
    let known: string | undefined;
    let questions = 0;
    function* learn(): SlicedWork<string> {
      known = yield* pieces(3);
      return known;
    }
    const answer = (): string => {
      questions += 1;
      return known ?? demand(learn());
    };
    const work = patiently(answer);
    expect(work.next().done).toBe(false);
    expect(atOnce(work)).toBe("3 pieces");
    expect(questions).toBe(2);
  });
});

describe("patiently", () => {
  it("passes other errors on", () => {
    const failing = patiently(() => {
      throw new RangeError("no");
    });
    expect(() => atOnce(failing)).toThrow(RangeError);
  });
});
