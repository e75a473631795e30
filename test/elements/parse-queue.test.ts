import { describe, expect, it } from "vitest";
import { parseInTurnOf } from "../../src/elements/parse-queue.ts";
import { settled } from "../../src/event-loop/sliced-work.ts";
import { done } from "../helpers/done.ts";

const large = 1024 * 1024;

/** Parses a text of some length when it is the turn of a client. */
function parseInTurn(length: number, parse: () => Promise<string>, address = ""): Promise<string> {
  return done(parseInTurnOf({ address })(length, () => settled(parse())));
}

/** Tasks that end when told to, and in which order they began. */
function tasks() {
  const began: string[] = [];
  const end = new Map<string, (error?: Error) => void>();
  const task = (name: string) => (): Promise<string> => {
    began.push(name);
    return new Promise((resolve, reject) => end.set(name, (error) => (error ? reject(error) : resolve(name))));
  };
  return { began, task, end: (name: string, error?: Error) => end.get(name)?.(error) };
}

describe("parseInTurnOf", () => {
  it("parses large documents one after the other, and small ones meanwhile", async () => {
    const { began, task, end } = tasks();
    const first = parseInTurn(large, task("first"));
    const second = parseInTurn(large, task("second"));
    const small = parseInTurn(1000, task("small"));
    await Promise.resolve();
    expect(began).toEqual(["first", "small"]);
    end("small");
    expect(await small).toBe("small");
    end("first");
    expect(await first).toBe("first");
    await expect.poll(() => began).toEqual(["first", "small", "second"]);
    end("second");
    expect(await second).toBe("second");
  });

  it("goes on after one that failed", async () => {
    const { task, end } = tasks();
    const first = parseInTurn(large, task("first"));
    const second = parseInTurn(large, () => Promise.resolve("second"));
    await Promise.resolve();
    end("first", new Error("too deep"));
    await expect(first).rejects.toThrow("too deep");
    expect(await second).toBe("second");
  });

  it("sends away what makes too much wait, the newest of the client that sends the most", async () => {
    const { task, end } = tasks();
    const running = parseInTurn(large, task("running"));
    const flood = [1, 2].map(() => parseInTurn(60 * large, async () => "flood", "a"));
    const other = parseInTurn(20 * large, async () => "other", "b");
    await expect(flood[1]).rejects.toMatchObject({ status: 503, code: "OVERLOADED", headers: { "retry-after": "2" } });
    end("running");
    expect(await Promise.all([running, flood[0], other])).toEqual(["running", "flood", "other"]);
  });
});
