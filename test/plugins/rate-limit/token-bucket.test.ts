import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterGivingBack, TokenBucket } from "../../../src/plugins/rate-limit/token-bucket.ts";
import { checks } from "../../helpers/effort.ts";

/** A bucket that is full at 0, and asks the rules. */
function bucketOf(requestsPerSecond: number, burstCapacity: number, startsAt = 0) {
  const rules = new TokenBucket({ requestsPerSecond, burstCapacity });
  let fullAt = rules.moment(startsAt);
  return {
    take(ms: number) {
      const now = rules.moment(ms);
      const allowed = rules.hasToken(fullAt, now);
      if (allowed) fullAt = rules.take(fullAt, now);
      return rules.decision(allowed, fullAt, now);
    },
    giveBack() {
      fullAt = rules.giveBack(fullAt);
    },
  };
}

function passesOf(bucket: ReturnType<typeof bucketOf>, now: number, asked: number): number {
  return Array.from({ length: asked }, () => bucket.take(now)).filter(({ allowed }) => allowed).length;
}

// Quarters of a request a second and whole milliseconds: a model can count in 1/4000 of a token, without any rounding.
const partsOfToken = 4000;
const quarters = fc.integer({ min: 1, max: 400 });
const capacities = fc.integer({ min: 1, max: 30 });
const steps = fc.array(
  fc.record({ wait: fc.oneof(fc.nat(30), fc.nat(5000)), asked: fc.integer({ min: 1, max: 40 }) }),
  {
    minLength: 1,
    maxLength: 60,
  },
);
const starts = fc.constantFrom(0, 1, 123_456_789, 365 * 86_400_000);

describe("a token bucket", () => {
  it("lets exactly those requests pass that a bucket of whole parts of tokens does", () => {
    fc.assert(
      fc.property(quarters, capacities, steps, starts, (rate, capacity, times, startsAt) => {
        const bucket = bucketOf(rate / 4, capacity, startsAt);
        const full = capacity * partsOfToken;
        let parts = full;
        let now = startsAt;
        for (const { wait, asked } of times) {
          now += wait;
          parts = Math.min(full, parts + wait * rate);
          const expected = Math.min(asked, Math.floor(parts / partsOfToken));
          parts -= expected * partsOfToken;
          expect(passesOf(bucket, now, asked)).toBe(expected);
        }
      }),
      checks({ seed: 1, numRuns: 500 }),
    );
  });

  it.each([3, 7, 0.3, 1 / 3, 9.99])(
    "has whole bursts at a rate whose tokens take broken times (%d a second)",
    (rate) => {
      for (const startsAt of [0, 0.1, 1e6 / 3, 86_400_000 * 365]) {
        const bucket = bucketOf(rate, 6, startsAt);
        expect(passesOf(bucket, startsAt, 20)).toBe(6);
        expect(passesOf(bucket, startsAt + 3000 / rate, 20)).toBe(3);
      }
    },
  );

  it.each([
    [3, 3002],
    [0.7, 702],
    [9.99, 9992],
  ])(
    "does not drift: at %d a second, a client that never lets up has %i requests in 1000 seconds",
    (rate, expected) => {
      const startsAt = 1e9 + 0.3;
      const bucket = bucketOf(rate, 2, startsAt);
      let passed = 0;
      for (let ms = 0; ms <= 1_000_000; ms += 4) if (bucket.take(startsAt + ms).allowed) passed += 1;
      expect(passed).toBe(expected);
    },
  );

  it("tells how many tokens are left, when it will be full, and when there is a token", () => {
    const bucket = bucketOf(2, 3);
    expect(bucket.take(0)).toEqual({
      allowed: true,
      remaining: 2,
      msUntilFull: expect.closeTo(500, 2),
      msUntilToken: 0,
    });
    expect(bucket.take(0)).toMatchObject({ allowed: true, remaining: 1, msUntilFull: expect.closeTo(1000, 2) });
    expect(bucket.take(0)).toEqual({
      allowed: true,
      remaining: 0,
      msUntilFull: expect.closeTo(1500, 2),
      msUntilToken: expect.closeTo(500, 2),
    });
    expect(bucket.take(100)).toEqual({
      allowed: false,
      remaining: 0,
      msUntilFull: expect.closeTo(1400, 2),
      msUntilToken: expect.closeTo(400, 2),
    });
  });

  it("has a token after just the time that it told, and not before", () => {
    const rates = fc.double({ min: 0.001, max: 1000, noNaN: true });
    const capacity = fc.double({ min: 1, max: 9, noNaN: true });
    const start = fc.double({ min: 0, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(rates, capacity, start, (rate, burst, startsAt) => {
        const bucket = bucketOf(rate, burst, startsAt);
        passesOf(bucket, startsAt, 10);
        const { allowed, msUntilToken } = bucket.take(startsAt);
        expect(allowed).toBe(false);
        const msPerToken = 1000 / rate;
        expect(bucket.take(startsAt + msUntilToken - msPerToken * 1e-4).allowed).toBe(false);
        expect(bucket.take(startsAt + msUntilToken).allowed).toBe(true);
      }),
      checks({ seed: 3, numRuns: 1000 }),
    );
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("tells whole seconds where they are whole: %i of ten", (asked) => {
    const bucket = bucketOf(0.1, 1);
    bucket.take(0);
    const { msUntilToken, msUntilFull } = bucket.take(asked * 1000);
    expect([Math.ceil(msUntilToken / 1000), Math.ceil(msUntilFull / 1000)]).toEqual([10 - asked, 10 - asked]);
    expect(bucket.take(10_000).allowed).toBe(true);
  });

  it("is never fuller than full, whatever it gets back", () => {
    const bucket = bucketOf(1, 2);
    for (let token = 0; token < 5; token += 1) bucket.giveBack();
    expect(passesOf(bucket, 0, 10)).toBe(2);
    bucket.giveBack();
    expect(passesOf(bucket, 0, 10)).toBe(1);
  });
});

describe("a decision after giving back", () => {
  it("has one token more, and is full one token sooner", () => {
    const policy = { requestsPerSecond: 2, burstCapacity: 3.5 };
    const decision = { allowed: true, remaining: 1, msUntilFull: 800, msUntilToken: 0 };
    expect(afterGivingBack(decision, policy)).toEqual({ ...decision, remaining: 2, msUntilFull: 300 });
    const nearlyFull = { allowed: true, remaining: 3, msUntilFull: 200, msUntilToken: 0 };
    expect(afterGivingBack(nearlyFull, policy)).toEqual({ ...nearlyFull, msUntilFull: 0 });
  });
});
