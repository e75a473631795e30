import { describe, expect, it } from "vitest";
import { positionOf, readFeedQuery } from "../../../src/plugins/live/feed-query.ts";

describe("readFeedQuery", () => {
  it.each([
    ["", { path: undefined, since: undefined, feed: undefined }],
    ["?", { path: undefined, since: undefined, feed: undefined }],
    ["?path=/docs/&since=12&feed=abc", { path: "/docs", since: 12, feed: "abc" }],
    ["?path=/a%20b.html&other=1&other=2", { path: "/a b.html", since: undefined, feed: undefined }],
    ["?path=/&since=0", { path: "", since: 0, feed: undefined }],
  ])("reads %j", (search, query) => {
    expect(readFeedQuery(search)).toEqual(query);
  });

  it.each([
    ["?since=", "since has to be the id of a change"],
    ["?since=-1", "since has to be the id of a change"],
    ["?since=1e3", "since has to be the id of a change"],
    ["?since=9999999999999999", "since has to be the id of a change"],
    ["?since=1&since=1", "since has to be one value"],
    ["?feed=a&feed=b", "feed has to be one value"],
    ["?path=docs", "path has to be a path from the root"],
    ["?path=/docs//x", "path has to be a path from the root"],
    ["?path=/docs/../x", "path has to be a path from the root"],
    ["?path=/%00", "path has to be a path from the root"],
  ])("refuses %j", (search, details) => {
    expect(() => readFeedQuery(search)).toThrow(expect.objectContaining({ status: 400, code: "INVALID_QUERY" }));
    expect(() => readFeedQuery(search)).toThrow(details);
  });
});

describe("positionOf", () => {
  it.each([
    [{ since: undefined, feed: "f" }, "now"],
    [{ since: 3, feed: undefined }, 3],
    [{ since: 3, feed: "f" }, 3],
    [{ since: 3, feed: "" }, "unknown"],
    [{ since: 3, feed: "g" }, "unknown"],
  ] as const)("of %j is %s", (query, position) => {
    expect(positionOf(query, "f")).toBe(position);
  });
});
