import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareNames, compareRanked, listingOrder, rankOf } from "../../src/files/listing-order.ts";
import type { StoredEntry, StoredStat } from "../../src/storage/storage.ts";
import { checks } from "../helpers/effort.ts";

type Entry = StoredEntry & StoredStat;

function file(name: string, size = 0, time = 0): Entry {
  return { name, type: "file", size, modified: new Date(time), version: "v" };
}

const orderOf = (search: string) => listingOrder(new URLSearchParams(search));

describe("listingOrder", () => {
  test.each([
    ["", "name", false],
    ["?sort=size", "size", false],
    ["?order=desc&sort=modified", "modified", true],
    ["?sort=constructor&order=up", "name", false],
    ["?sort=%", "name", false],
  ])("reads %s", (search, column, descending) => {
    expect(orderOf(search)).toEqual({ column, descending });
  });
});

describe("compareNames", () => {
  test("finds a name equal to itself only", () => {
    expect(compareNames(file("a"), file("a"))).toBe(0);
    expect(compareNames(file("01"), file("1"))).not.toBe(0);
    expect(compareNames(file("\u00e9"), file("e\u0301"))).not.toBe(0);
  });
});

describe("compareRanked", () => {
  const sorted = (entries: Entry[], search = "") => {
    const order = orderOf(search);
    const ranked = entries.map((entry) => ({ name: entry.name, type: entry.type, rank: rankOf(order.column, entry) }));
    return ranked.sort(compareRanked(order)).map(({ name }) => name);
  };

  test("goes by name where sizes or times are equal", () => {
    expect(sorted([file("b", 1), file("a", 1), file("c", 0)], "?sort=size")).toEqual(["c", "a", "b"]);
    expect(sorted([file("b", 0, 9), file("a", 0, 9), file("c", 0, 1)], "?sort=modified")).toEqual(["c", "a", "b"]);
  });

  test("orders names of equal meaning always the same way", () => {
    const composed = file("\u00e9");
    const decomposed = file("e\u0301");
    expect(sorted([composed, decomposed])).toEqual(sorted([decomposed, composed]));
  });

  test("gives one order whatever order the entries came in", () => {
    const entry = fc.record({
      name: fc.string({ unit: fc.constantFrom("a", "B", "1", "2", "0", "\u00e9", "-") }),
      type: fc.constantFrom("file" as const, "directory" as const),
      size: fc.nat(3),
      modified: fc.constantFrom(new Date(0), new Date(1)),
      version: fc.constant("v"),
    });
    const entries = fc.uniqueArray(entry, { selector: ({ name }) => name });
    const search = fc.constantFrom("", "?order=desc", "?sort=size", "?sort=modified&order=desc");
    fc.assert(
      fc.property(entries, search, (list, query) => {
        expect(sorted([...list].reverse(), query)).toEqual(sorted([...list], query));
      }),
      checks({ seed: 7, numRuns: 100 }),
    );
  });
});
