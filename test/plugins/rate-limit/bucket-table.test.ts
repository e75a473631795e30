import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BucketTable } from "../../../src/plugins/rate-limit/bucket-table.ts";
import { KeyHash } from "../../../src/plugins/rate-limit/key-hash.ts";
import { TokenBucket } from "../../../src/plugins/rate-limit/token-bucket.ts";
import { checks, timesOf } from "../../helpers/effort.ts";

const policy = { requestsPerSecond: 1, burstCapacity: 3 };
const rules = new TokenBucket(policy);
const seeded = () => new KeyHash(new Uint32Array([1, 2]));

/**
 * A hash that puts all keys into one segment and next to each other, over the end of the slots and from their
 * beginning.
 */
class CrowdedHash extends KeyHash {
  override read(text: string): void {
    const key = Number(text);
    this.high = (key % 3) << 16;
    this.low = 0xffff_fffc + (key % 7) - 7 * (key >> 6 === 0 ? 0 : 1) + ((key * 8192) >>> 0);
    this.low >>>= 0;
    // Different keys must have different hashes: their number goes where neither segment nor slot is chosen from.
    this.high = (this.high | (key << 20)) >>> 0;
  }
}

/** The same as a table, by a `Map`, whose order is that of use. */
class ModelTable {
  readonly buckets = new Map<string, number>();
  readonly maxBuckets: number;

  constructor(maxBuckets: number) {
    this.maxBuckets = maxBuckets;
  }

  take(key: string, ms: number) {
    const now = rules.moment(ms);
    const before = this.buckets.get(key);
    if (before === undefined && this.buckets.size >= this.maxBuckets) {
      for (const oldest of [...this.buckets.keys()].slice(0, 1)) this.buckets.delete(oldest);
    }
    this.buckets.delete(key);
    const fullAt = before ?? now;
    const allowed = rules.hasToken(fullAt, now);
    const after = allowed ? rules.take(fullAt, now) : fullAt;
    this.buckets.set(key, after);
    return rules.decision(allowed, after, now);
  }

  giveBack(key: string): void {
    const fullAt = this.buckets.get(key);
    if (fullAt !== undefined) this.buckets.set(key, fullAt - 1);
  }

  dropFull(ms: number): void {
    for (const [key, fullAt] of this.buckets) if (fullAt <= rules.moment(ms)) this.buckets.delete(key);
  }
}

function dropAllFull(table: BucketTable, ms: number, atMost = 512): void {
  for (let end = table.size; end > 0; ) end = table.dropFull(end, rules.moment(ms), atMost);
}

type Step =
  | { readonly kind: "take" | "giveBack"; readonly key: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "dropFull"; readonly atMost: number };

const stepsWith = (keys: number): fc.Arbitrary<Step[]> => {
  const key = fc.nat(keys - 1);
  const step = fc.oneof(
    { weight: 30, arbitrary: fc.record({ kind: fc.constant("take" as const), key }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("giveBack" as const), key }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(700) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("dropFull" as const), atMost: fc.integer({ min: 1, max: 20 }) }),
    },
  );
  return fc.array(step, { maxLength: 600, size: "max" });
};

describe.each([
  ["hashes as they come", seeded],
  ["hashes that all meet", () => new CrowdedHash()],
])("a table of buckets, with %s", (_name, hash) => {
  it.each([
    [1000, 60],
    [40, 60],
    [7, 30],
    [1, 4],
  ])("of at most %i does what a Map would do, for %i keys", (maxBuckets, keys) => {
    let evictions = 0;
    let drops = 0;
    fc.assert(
      fc.property(stepsWith(keys), (steps) => {
        const table = new BucketTable(rules, maxBuckets, hash());
        const model = new ModelTable(maxBuckets);
        const answers: unknown[] = [];
        const expected: unknown[] = [];
        let now = 0;
        for (const step of steps) {
          if (step.kind === "wait") now += step.ms;
          else if (step.kind === "dropFull") {
            drops += table.size;
            dropAllFull(table, now, step.atMost);
            model.dropFull(now);
            drops -= table.size;
          } else {
            const key = String(step.key);
            if (!model.buckets.has(key) && table.size === maxBuckets) evictions += 1;
            if (step.kind === "giveBack") {
              table.giveBack(key);
              model.giveBack(key);
            } else {
              answers.push(table.take(key, rules.moment(now)));
              expected.push(model.take(key, now));
            }
          }
          answers.push(table.size);
          expected.push(model.buckets.size);
        }
        expect(answers).toEqual(expected);
        // Every bucket is where it should be, and as full as it should be.
        for (const key of [...model.buckets.keys()])
          expect(table.take(key, rules.moment(now))).toEqual(model.take(key, now));
        expect(table.size).toBe(model.buckets.size);
      }),
      checks({ seed: 4, numRuns: 25, inCampaign: 240 }),
    );
    expect(drops).toBeGreaterThan(0);
    expect(evictions > 0).toBe(maxBuckets < keys);
  });
});

describe("a table of buckets", () => {
  const take = (table: BucketTable, key: number, ms = 0) => table.take(`ip:${key}`, rules.moment(ms));

  it("finds everybody again after growing over many pages and segments, and after shrinking", () => {
    const table = new BucketTable(rules, 100_000, seeded());
    const keys = 30_000;
    for (let key = 0; key < keys; key += 1) take(table, key);
    for (let key = 0; key < keys; key += 3) take(table, key, 500); // these are full at 2000, the others at 1000
    expect(table.size).toBe(keys);
    const grown = table.byteLength;

    dropAllFull(table, 1000);
    expect(table.size).toBe(keys / 3);
    expect(table.byteLength).toBeLessThan(grown / 2);
    for (let key = 0; key < keys; key += 3) expect(take(table, key, 1000).remaining).toBe(1);
    expect(table.size).toBe(keys / 3);

    dropAllFull(table, 10_000);
    expect(table.size).toBe(0);
    expect(table.byteLength).toBeLessThan(150_000);
    expect(take(table, 0, 10_000).remaining).toBe(2);
  });

  it("is right at every size around the ends of its pages", () => {
    const page = 4096;
    const table = new BucketTable(rules, 3 * page, seeded());
    for (let key = 0; key < 2 * page + 2; key += 1) take(table, key, key);
    // One leaves after another, from the first on, and each time the last takes its place.
    for (let key = 0; key < 2 * page + 2; key += 1) {
      dropAllFull(table, 1000 + key, 4 * page);
      expect(table.size).toBe(2 * page + 1 - key);
    }
  });

  it("does not make and drop memory again and again for a bucket that comes and goes", () => {
    const table = new BucketTable(rules, 100_000, seeded());
    for (let key = 0; key < 4096; key += 1) take(table, key, 1e6);
    const sizes = new Set<number>();
    for (let round = 1; round < 20; round += 1) {
      take(table, -1, 0);
      sizes.add(table.byteLength);
      dropAllFull(table, 1000);
      sizes.add(table.byteLength);
    }
    expect(table.size).toBe(4096);
    expect(sizes.size).toBe(1);
  });

  it("forgets the one that has been idle for the longest time, not the one that came first", () => {
    const table = new BucketTable(rules, 3, seeded());
    for (const key of [1, 2, 3, 1]) take(table, key);
    take(table, 4); // in place of 2
    expect(take(table, 1).remaining).toBe(0);
    expect(take(table, 3).remaining).toBe(1);
    expect(take(table, 2).remaining).toBe(2); // in place of 4
    expect(table.size).toBe(3);
  });

  it("misses no bucket in a cleanup between whose parts others come, go and are evicted", () => {
    const table = new BucketTable(rules, 1000, seeded());
    for (let key = 0; key < 1000; key += 1) take(table, key);
    let coming = 1000;
    for (let end = table.size; end > 0; ) {
      end = table.dropFull(end, rules.moment(5000), 7);
      for (let n = 0; n < 3; n += 1) take(table, coming++, 5000);
    }
    const late = coming - 1000;
    expect(table.size).toBe(late);
    for (let key = 1000; key < coming; key += 1) expect(take(table, key, 5000).remaining).toBe(1);
    expect(table.size).toBe(late);
  });

  it("holds its many clients in less than 40 bytes for each, and not one more than it may", () => {
    const clients = timesOf(100_000, 1_000_000);
    const table = new BucketTable(rules, clients, seeded());
    for (let key = 0; key < clients + 50_000; key += 1) take(table, key);
    expect(table.size).toBe(clients);
    expect(table.byteLength / clients).toBeLessThan(40);
    expect(take(table, clients + 49_999).remaining).toBe(1); // was here a moment ago
    expect(take(table, 50_000).remaining).toBe(1); // the oldest that must still be here
    expect(take(table, 49_999).remaining).toBe(2); // the youngest that must be gone
  });
});
