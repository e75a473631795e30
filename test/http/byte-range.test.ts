import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contentRange, parseByteRange } from "../../src/http/byte-range.ts";
import { checks } from "../helpers/effort.ts";

const huge = "9".repeat(5000);

describe("parseByteRange", () => {
  test.each([
    ["bytes=0-", [{ start: 0, end: 99 }]],
    ["bytes=10-19", [{ start: 10, end: 19 }]],
    ["bytes=90-1000", [{ start: 90, end: 99 }]],
    [`bytes=90-${huge}`, [{ start: 90, end: 99 }]],
    ["bytes=-1", [{ start: 99, end: 99 }]],
    ["bytes=-100", [{ start: 0, end: 99 }]],
    [`bytes=-${huge}`, [{ start: 0, end: 99 }]],
    ["BYTES=007-008", [{ start: 7, end: 8 }]],
    [
      "bytes= 0-1 , 5-6 ",
      [
        { start: 0, end: 1 },
        { start: 5, end: 6 },
      ],
    ],
    ["bytes=,0-1,,", [{ start: 0, end: 1 }]],
    [
      "bytes=50-59,0-9",
      [
        { start: 50, end: 59 },
        { start: 0, end: 9 },
      ],
    ],
    ["bytes=0-9,10-19,5-12", [{ start: 0, end: 19 }]],
    ["bytes=0-9,200-300", [{ start: 0, end: 9 }]],
    ["bytes=-0,0-1", [{ start: 0, end: 1 }]],
  ])("reads %s of 100 bytes", (header, spans) => {
    expect(parseByteRange(header, 100)).toEqual(spans);
  });

  test.each(["bytes=100-", "bytes=100-200", "bytes=-0", `bytes=${huge}-`, `bytes=${huge}-${huge}`, "bytes=200-,-0"])(
    "finds nothing for %s in 100 bytes",
    (header) => {
      expect(parseByteRange(header, 100)).toBe("unsatisfiable");
    },
  );

  test.each([
    "",
    "bytes=",
    "bytes=,",
    "bytes=-",
    "bytes=a-b",
    "bytes=0",
    "bytes=5-2",
    "bytes=0-1,5-2",
    "bytes=0-1,x",
    "bytes=0--1",
    "bytes=+0-1",
    "bytes=1e1-20",
    "bytes=0 - 1",
    "bytes=0-1;2-3",
    "bytes =0-1",
    " bytes=0-1",
    "selector=p",
    "bytes=٣-٤",
  ])("ignores %j", (header) => {
    expect(parseByteRange(header, 100)).toBe("ignore");
  });

  test("follows the RFC for an empty file", () => {
    expect(parseByteRange("bytes=0-", 0)).toBe("unsatisfiable");
    expect(parseByteRange("bytes=0-0", 0)).toBe("unsatisfiable");
    expect(parseByteRange("bytes=-0", 0)).toBe("unsatisfiable");
    expect(parseByteRange("bytes=-5", 0)).toBe("ignore");
  });

  test("sends the whole file rather than more than 16 parts", () => {
    const apart = (count: number) => `bytes=${Array.from({ length: count }, (_, i) => `${i * 2}-${i * 2}`).join(",")}`;
    expect(parseByteRange(apart(16), 100)).toHaveLength(16);
    expect(parseByteRange(apart(17), 100)).toBe("ignore");
    expect(parseByteRange(`bytes=${"0-,".repeat(5000)}`, 100)).toEqual([{ start: 0, end: 99 }]);
    expect(parseByteRange(apart(3000), 1e6)).toBe("ignore");
  });

  test("covers just the bytes asked for, each once", () => {
    const size = fc.integer({ min: 1, max: 30 });
    const position = fc.integer({ min: 0, max: 35 });
    const range = fc.oneof(
      fc.tuple(position, position).map(([a, b]) => ({ text: `${Math.min(a, b)}-${Math.max(a, b)}`, a, b })),
      position.map((a) => ({ text: `${a}-`, a, b: Number.POSITIVE_INFINITY })),
      position.map((n) => ({ text: `-${n}`, a: -n, b: Number.POSITIVE_INFINITY })),
    );
    fc.assert(
      fc.property(size, fc.array(range, { minLength: 1, maxLength: 8 }), (bytes, ranges) => {
        const asked = (at: number) =>
          ranges.some(({ text, a, b }) => {
            if (text.startsWith("-")) return at >= bytes + a;
            return at >= Math.min(a, b) && at <= Math.max(a, b);
          });
        const expected = Array.from({ length: bytes }, (_, at) => at).filter(asked);
        const answer = parseByteRange(`bytes=${ranges.map(({ text }) => text).join(",")}`, bytes);
        const spans = typeof answer === "string" ? [] : answer;
        const sent = spans.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, i) => start + i));
        expect(sent.toSorted((x, y) => x - y)).toEqual(expected);
        expect(answer === "unsatisfiable").toBe(expected.length === 0);
      }),
      checks({ seed: 4, numRuns: 1000 }),
    );
  });
});

test("says in Content-Range what is sent", () => {
  expect(contentRange({ start: 0, end: 9 }, 100)).toBe("bytes 0-9/100");
});
