import { describe, expect, it } from "vitest";
import { locationOf } from "../../src/files/location.ts";
import type { Exchange } from "../../src/server/exchange.ts";

const location = (mount: string, path: string): string => locationOf({ mount } as Exchange, path);

describe("the location of a path", () => {
  it.each([
    ["", "/a.txt", "/a.txt"],
    ["/docs", "/a.txt", "/docs/a.txt"],
    ["/docs", "/", "/docs/"],
    ["", "/naïve/50% #?.txt", "/na%C3%AFve/50%25%20%23%3F.txt"],
    ["/na%C3%AFve", "/a.txt", "/na%C3%AFve/a.txt"],
  ])("is below the mount %j for %s: %s", (mount, path, expected) => {
    expect(location(mount, path)).toBe(expected);
  });

  it.each([
    ["//evil.com", "/"],
    ["///evil.com", "/"],
    ["", "//evil.com/"],
  ])("begins with just one slash for the mount %j and %s", (mount, path) => {
    expect(location(mount, path)).toBe("/evil.com/");
  });
});
