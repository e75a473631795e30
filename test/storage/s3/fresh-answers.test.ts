import { describe, expect, it } from "vitest";
import { FreshAnswers } from "../../../src/storage/s3/fresh-answers.ts";

describe("a fresh answer", () => {
  it("is one for all who come while another is under way, and not that one", async () => {
    let asked = 0;
    const answers = new FreshAnswers(async () => ++asked);
    const [first, second, third] = [answers.of("a"), answers.of("a"), answers.of("a")];
    expect(third).toBe(second);
    expect(await Promise.all([first, second, third])).toEqual([1, 2, 2]);
    expect(await answers.of("a")).toBe(3);
  });

  it("is asked for after its reader came, so that it has every change that the reader knows of", async () => {
    let stored = 0;
    const answers = new FreshAnswers(async () => {
      const found = stored;
      await new Promise(setImmediate);
      return found;
    });
    for (let change = 1; change <= 20; change += 1) {
      const early = [answers.of("a"), answers.of("a")];
      stored = change;
      expect(await answers.of("a")).toBe(change);
      await Promise.all(early);
    }
  });
});
