import { expect, it } from "vitest";
import { unavailable } from "../../src/server/outage.ts";

it.each([
  ["CLOSING", "5"],
  ["MAINTENANCE", "60"],
  ["OVERLOADED", "1"],
] as const)("an outage is a 503 with a code and the time to come back: %s", (code, seconds) => {
  expect(unavailable(code)).toMatchObject({ status: 503, code, headers: { "retry-after": seconds } });
});
