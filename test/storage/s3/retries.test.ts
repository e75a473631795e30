import { describe, expect, it } from "vitest";
import { retries } from "../../../src/storage/s3/retries.ts";

describe("the retries of requests to a store", () => {
  it("are as many for each request, however many others have failed", async () => {
    const strategy = retries(4);
    const attemptsOfOne = async (): Promise<number> => {
      let token = await strategy.acquireInitialRetryToken("");
      for (let attempts = 1; ; attempts += 1) {
        const next = await strategy.refreshRetryTokenForRetry(token, { errorType: "TRANSIENT" }).catch(() => undefined);
        if (!next) return attempts;
        expect(next.getRetryDelay()).toBeLessThanOrEqual(2_000);
        token = next;
      }
    };
    const attempts: number[] = [];
    for (let request = 0; request < 500; request += 1) attempts.push(await attemptsOfOne());
    expect(new Set(attempts)).toEqual(new Set([4]));
  });

  it("are none for what the store refuses", async () => {
    const strategy = retries(4);
    const token = await strategy.acquireInitialRetryToken("");
    await expect(strategy.refreshRetryTokenForRetry(token, { errorType: "CLIENT_ERROR" })).rejects.toThrow(
      "not sent again",
    );
  });
});
