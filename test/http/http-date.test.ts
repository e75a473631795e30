import { expect, test } from "vitest";
import { formatHttpDate, parseHttpDate } from "../../src/http/http-date.ts";

const date = new Date("1994-11-06T08:49:37Z");

test("writes the form that the RFC prefers", () => {
  expect(formatHttpDate(new Date("1994-11-06T08:49:37.999Z"))).toBe("Sun, 06 Nov 1994 08:49:37 GMT");
});

test.each(["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])(
  "reads %s",
  (text) => {
    expect(parseHttpDate(text)).toEqual(date);
  },
);

test.each([
  ["Thu, 29 Feb 2024 00:00:00 GMT", "2024-02-29T00:00:00Z"],
  ["Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00Z"],
  ["Sat, 01 Jan 0050 00:00:00 GMT", "0050-01-01T00:00:00Z"],
  ["Thu Nov 16 08:49:37 1994", "1994-11-16T08:49:37Z"],
])("reads %s", (text, expected) => {
  expect(parseHttpDate(text)).toEqual(new Date(expected));
});

test("puts a year of two digits at most 50 years ahead", () => {
  const now = new Date().getUTCFullYear();
  const yearOf = (year: number) =>
    parseHttpDate(`Sunday, 06-Nov-${String(year % 100).padStart(2, "0")} 08:49:37 GMT`)?.getUTCFullYear();
  expect(yearOf(now)).toBe(now);
  expect(yearOf(now + 49)).toBeOneOf([now + 49, now - 51]);
  expect(yearOf(now + 51)).toBe(now - 49);
});

test.each([
  "",
  "0",
  "1994",
  "now",
  "1994-11-06T08:49:37Z",
  "1994-11-06",
  "784111777",
  "06 Nov 1994 08:49:37 GMT",
  "Sun, 6 Nov 1994 08:49:37 GMT",
  "Sun, 06 Nov 1994 08:49:37",
  "Sun, 06 Nov 1994 08:49:37 UTC",
  "Sun, 06 Nov 1994 08:49:37 +0000",
  "Sun, 06 Nov 94 08:49:37 GMT",
  "sun, 06 nov 1994 08:49:37 gmt",
  "Sun, 06 Nov 1994 08:49 GMT",
  "Sun, 06 Nov 1994 24:00:00 GMT",
  "Sun, 06 Nov 1994 08:60:00 GMT",
  "Sun, 00 Nov 1994 08:49:37 GMT",
  "Sun, 31 Nov 1994 08:49:37 GMT",
  "Wed, 29 Feb 2023 00:00:00 GMT",
  "Sun, 06 Foo 1994 08:49:37 GMT",
  "Sun Nov 6 08:49:37 1994",
  "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
])("does not take %j for a date", (text) => {
  expect(parseHttpDate(text)).toBeUndefined();
});
