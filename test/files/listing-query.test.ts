import { describe, expect, test } from "vitest";
import { linkToOrder, linkToPage, readListingQuery } from "../../src/files/listing-query.ts";

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
    "?limit=0",
    "?limit=100001",
    "?limit=0x10",
    "?limit=1e3",
    "?limit=1&limit=1",
    "?after=",
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
    expect(linkToOrder(query, { column: "size", descending: true })).toBe("?limit=3&after=b&sort=size&order=desc");
  });
});
