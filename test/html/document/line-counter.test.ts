import { expect, it } from "vitest";
import { LineCounter } from "../../../src/html/document/line-counter.ts";

it("counts lines that end in LF, CRLF or CR, and columns in them", () => {
  const lines = new LineCounter("a\nbc\r\n\rd");
  expect([0, 1, 2, 3, 6, 7].map((offset) => Object.values(lines.at(offset)))).toEqual([
    [1, 1],
    [1, 2],
    [2, 1],
    [2, 2],
    [3, 1],
    [4, 1],
  ]);
});

it("takes what has no place for the beginning", () => {
  expect(new LineCounter("a").at(null)).toEqual({ line: 1, column: 1 });
});
