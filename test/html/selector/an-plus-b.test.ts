import { describe, expect, it } from "vitest";
import { readAnPlusB } from "../../../src/html/selector/an-plus-b.ts";
import { tokenize } from "../../../src/html/selector/selector-tokens.ts";

function read(text: string): string | undefined {
  const found = readAnPlusB(tokenize(text));
  return found && `${found.step}n${found.offset < 0 ? "" : "+"}${found.offset} of ${found.length}`;
}

describe("readAnPlusB", () => {
  it.each([
    ["odd", "2n+1 of 1"],
    ["EVEN", "2n+0 of 1"],
    ["7", "0n+7 of 1"],
    ["+7", "0n+7 of 1"],
    ["-0007", "0n-7 of 1"],
    ["n", "1n+0 of 1"],
    ["-n", "-1n+0 of 1"],
    ["+n", "1n+0 of 2"],
    ["2n", "2n+0 of 1"],
    ["-3N", "-3n+0 of 1"],
    ["2n+1", "2n+1 of 2"],
    ["2n-1", "2n-1 of 1"],
    ["-n-1", "-1n-1 of 1"],
    ["2n + 1", "2n+1 of 5"],
    ["2n - 1", "2n-1 of 5"],
    ["2n- 1", "2n-1 of 3"],
    ["2n -1", "2n-1 of 3"],
    ["n +1", "1n+1 of 3"],
    ["2n/**/+/**/1", "2n+1 of 3"],
    ["+/**/n- 2", "1n-2 of 4"],
    ["n of p", "1n+0 of 1"],
    ["\\6e", "1n+0 of 1"],
    ["2\\6e", "2n+0 of 1"],
    ["99999999999999999999n", "100000000000000000000n+0 of 1"],
  ])("it reads %s as %s tokens", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ...["", "x", "+", "-", "--n", "1.5", "1e3", "1e0n", "2px", "n+", "n-", "n- -1", "n- +1", "n + -1", "n + +1"],
    ...["+ n", "+odd", "+ 1", "+2n+", "- n", "n3", "n--3", "2n+x", "n-1-1", "'2n'", "+/**/2n"],
  ])("it refuses %s", (text) => {
    expect(read(text)).toBeUndefined();
  });
});
