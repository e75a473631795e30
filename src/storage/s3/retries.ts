import type { S3ClientConfig } from "@aws-sdk/client-s3";

type Strategy = Extract<NonNullable<S3ClientConfig["retryStrategy"]>, { recordSuccess: unknown }>;

/** Pauses between attempts: random, up to a bound that doubles, in milliseconds. */
const firstPauseMs = 100;
const longestPauseMs = 2_000;

/**
 * Sends a request again that failed on its way or at the store, up to a number of attempts, whatever became of others.
 * The SDK's own strategy has a budget for all requests together: after some failures it gives up at the first.
 */
export function retries(maxAttempts: number): Strategy {
  const token = (count: number, pauseMs: number): Awaited<ReturnType<Strategy["acquireInitialRetryToken"]>> => ({
    getRetryCount: () => count,
    getRetryDelay: () => pauseMs,
  });
  return {
    acquireInitialRetryToken: async () => token(0, 0),
    async refreshRetryTokenForRetry(before, { errorType }) {
      const count = before.getRetryCount() + 1;
      if (count >= maxAttempts || errorType === "CLIENT_ERROR") throw new Error("the request is not sent again");
      return token(count, Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** count));
    },
    recordSuccess() {},
  };
}
