import { describe, expect, it } from "vitest";
import { freshAnswers } from "../../../src/storage/s3/fresh-answers.ts";

describe("a fresh answer", () => {
  it("is one for all who come while another is under way, and not that one", async () => {
    let asked = 0;
    const answerOf = freshAnswers(async () => ++asked);
    const [first, second, third] = [answerOf("a"), answerOf("a"), answerOf("a")];
    expect(third).toBe(second);
    expect(await Promise.all([first, second, third])).toEqual([1, 2, 2]);
    expect(await answerOf("a")).toBe(3);
  });

  it("is asked for after its reader came, so that it has every change that the reader knows of", async () => {
    let stored = 0;
    const answerOf = freshAnswers(async () => {
      const found = stored;
      await new Promise(setImmediate);
      return found;
    });
    for (let change = 1; change <= 20; change += 1) {
      const early = [answerOf("a"), answerOf("a")];
      stored = change;
      expect(await answerOf("a")).toBe(change);
      await Promise.all(early);
    }
  });
});
