import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TimeSlice } from "../../src/event-loop/sliced-work.ts";
import { compareNames } from "../../src/files/listing-query.ts";
import type { HoldNames } from "../../src/files/names-budget.ts";
import {
  hasMore,
  type SelectedNames,
  selectInOrder,
  selectNames,
  type WantedNames,
} from "../../src/files/select-names.ts";
import type { StoredEntry } from "../../src/storage/storage.ts";
import { checks } from "../helpers/effort.ts";

const file = (name: string): StoredEntry => ({ name, type: "file" });
const freeOfCharge: HoldNames = () => {};

function select(entries: Iterable<StoredEntry>, wanted: WantedNames, held = freeOfCharge): Promise<SelectedNames> {
  return selectNames(Readable.from(entries), wanted, held, new TimeSlice());
}

describe("selectNames", () => {
  test("gives what sorting everything and cutting it out would give", async () => {
    const entry = fc.record({
      name: fc.string({ unit: fc.constantFrom("a", "B", "1", "2", "0", "é", "-"), minLength: 1, maxLength: 6 }),
      type: fc.constantFrom("file" as const, "directory" as const),
    });
    const entries = fc.uniqueArray(entry, { selector: ({ name }) => name, maxLength: 300, size: "max" });
    await fc.assert(
      fc.asyncProperty(
        entries,
        fc.integer({ min: 1, max: 40 }),
        fc.option(entry, { nil: undefined }),
        async (...of) => {
          const [all, limit, after] = of;
          const sorted = [...all].sort(compareNames);
          const following = sorted.filter((each) => !after || compareNames(each, after) > 0);
          const selected = await select(all, { limit, after });
          expect(selected.names).toEqual(following.slice(0, limit));
          expect(selected.before).toBe(sorted.length - following.length);
          expect(selected.directories).toBe(all.filter(({ type }) => type === "directory").length);
          expect(selected.directories + selected.files).toBe(all.length);
          expect(hasMore(selected)).toBe(following.length > limit);
        },
      ),
      checks({ seed: 12, numRuns: 60, inCampaign: 800 }),
    );
  });

  test("holds hardly more names than it gives, in whatever order they come", async () => {
    const ascending = Array.from({ length: 20_000 }, (_, i) => file(String(i)));
    const mixed = ascending.map((_, i) => ascending[(i * 7919) % ascending.length] as StoredEntry);
    for (const entries of [ascending, ascending.toReversed(), mixed]) {
      let most = 0;
      const held: HoldNames = (count) => {
        most = Math.max(most, count);
      };
      const { names } = await select(entries, { limit: 1_000, after: undefined }, held);
      expect(names).toEqual(ascending.slice(0, 1_000));
      expect(most).toBeLessThanOrEqual(1_000 + 4_096);
    }
  });

  test("stops where there is no room for more", async () => {
    let asked = 0;
    const held: HoldNames = (count) => {
      asked = count;
      if (count > 10) throw new Error("no room");
    };
    const entries = Array.from({ length: 100 }, (_, i) => file(String(i)));
    await expect(select(entries, { limit: 100, after: undefined }, held)).rejects.toThrow("no room");
    expect(asked).toBe(11);
  });
});

describe("selectInOrder", () => {
  const names = Array.from({ length: 1_500 }, (_, i) => file(String(i)));
  let asked = 0;
  async function* counted(entries: readonly StoredEntry[]): AsyncGenerator<StoredEntry> {
    for (const entry of entries) {
      asked += 1;
      yield entry;
    }
  }

  test("asks for no more than the names that tell whether a directory has many", async () => {
    asked = 0;
    const selected = await selectInOrder(counted(names), { limit: 10, after: undefined }, freeOfCharge);
    expect(selected).toMatchObject({ names: names.slice(0, 10), isFollowed: true });
    expect(asked).toBe(1_000);
  });

  test("goes on with a page and one name more", async () => {
    asked = 0;
    const after = file("x");
    const selected = await selectInOrder(counted(names), { limit: 10, after, isByKey: true }, freeOfCharge);
    expect(selected).toMatchObject({ names: names.slice(0, 10), before: 1, isFollowed: true });
    expect(asked).toBe(11);
    const last = await selectInOrder(counted(names.slice(0, 5)), { limit: 10, after, isByKey: true }, freeOfCharge);
    expect(last).toMatchObject({ names: names.slice(0, 5), isFollowed: false });
  });

  test("gives all names of a directory that has few, or no more than the page", async () => {
    const few = await selectInOrder(counted(names.slice(0, 999)), { limit: 10, after: undefined }, freeOfCharge);
    expect(few).toEqual({ all: names.slice(0, 999) });
    const page = await selectInOrder(counted(names), { limit: 1_500, after: undefined }, freeOfCharge);
    expect(page).toEqual({ all: names });
  });
});
