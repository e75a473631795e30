import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compareNames,
  compareRanked,
  linkTo,
  linkToPage,
  rankOf,
  readListingQuery,
} from "../../src/files/listing-query.ts";
import type { StoredEntry, StoredStat } from "../../src/storage/storage.ts";
import { checks } from "../helpers/effort.ts";

describe("readListingQuery", () => {
  test.each([
    ["", undefined, undefined],
    ["?limit=1", 1, undefined],
    ["?limit=100000&after=a%20b", 100_000, { name: "a b", type: "file" }],
    ["?after=d%2F", undefined, { name: "d", type: "directory" }],
    ["?after=na%C3%AFve+%26.txt", undefined, { name: "naïve &.txt", type: "file" }],
  ])("reads %s", (search, limit, after) => {
    expect(readListingQuery(search)).toEqual({ limit, after, order: { column: "name", descending: false } });
  });

  test("leaves parameters alone that are not its own", () => {
    expect(readListingQuery("?token=x&token=y&sort=size").order).toEqual({ column: "size", descending: false });
  });

  test.each([
    "?limit=",
    "?limit=0",
    "?limit=-1",
    "?limit=1.5",
    "?limit=ten",
    "?limit=100001",
    "?limit=0x10",
    "?limit=1e3",
    "?limit=1&limit=1",
    "?after=",
    "?after=/",
    "?after=a%00",
    "?after=a&after=b",
    "?after=a%2Fb%2F",
  ])("refuses %s", (search) => {
    const refused = expect.objectContaining({ status: 400, code: "INVALID_QUERY" });
    expect(() => readListingQuery(search)).toThrow(refused);
  });
});

describe("a link within a listing", () => {
  test.each(["a", "50% & more?#.txt", "naïve 日本 🦊", "+", "dir/", "..", "javascript:x"])(
    "to the page after %s is read as it was meant",
    (name) => {
      const query = readListingQuery(`?limit=7&after=${encodeURIComponent(name)}&sort=size&order=desc`);
      const url = new URL(linkToPage(query, query.after), "http://example.com/docs/?after=x");
      expect(url.pathname).toBe("/docs/");
      expect(readListingQuery(url.search)).toEqual(query);
    },
  );

  test("to the first page in the usual order has no query", () => {
    expect(linkToPage(readListingQuery("?after=x"), undefined)).toBe("./");
    expect(linkToPage(readListingQuery("?after=x&order=desc"), undefined)).toBe("?sort=name&order=desc");
  });

  test("to the page after an entry says in which order pages are divided", () => {
    const query = readListingQuery("?limit=7");
    expect(linkToPage(query, { name: "a", type: "file" }, true)).toBe("?limit=7&after=a&by=key");
    expect(readListingQuery("?limit=7&after=a&by=key")).toMatchObject({ isByKey: true });
  });

  test("to another order stays on the page", () => {
    const query = readListingQuery("?limit=3&after=b");
    const order = { column: "size", descending: true } as const;
    expect(linkTo({ ...query, order }, true)).toBe("?limit=3&after=b&sort=size&order=desc");
  });
});

type Entry = StoredEntry & StoredStat;

function file(name: string, size = 0, time = 0): Entry {
  return { name, type: "file", size, modified: new Date(time), version: "v" };
}

const orderOf = (search: string) => readListingQuery(search).order;

describe("the order that a query asks for", () => {
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
