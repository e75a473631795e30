import { expect, it } from "vitest";
import { hasMoreValues } from "../../src/http/json-values.ts";

it.each([
  ["lists in lists", "[".repeat(4), true],
  ["fields", '{ "a": 1, "b": 2, "c": 3, "d": 4 }', true],
  ["an edit", '[{ "op": "test" }, 1]', false],
  ["a text that looks like that", JSON.stringify(['\\"[{,'.repeat(9), "\\"]), false],
  ["a text without an end", '["\\\\\\",[{,[{,', false],
])("are counted outside of texts: %s", (_, json, expected) => {
  expect(hasMoreValues(json, 3)).toBe(expected);
});
