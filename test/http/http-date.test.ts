import { expect, test } from "vitest";
import { parseHttpDate } from "../../src/http/http-date.ts";

const date = new Date("1994-11-06T08:49:37Z");

test.each(["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])(
  "reads %s",
  (text) => {
    expect(parseHttpDate(text)).toEqual(date);
  },
);

test.each([
  ["Thu, 29 Feb 2024 00:00:00 GMT", "2024-02-29T00:00:00Z"],
  ["Thu Nov 16 08:49:37 1994", "1994-11-16T08:49:37Z"],
])("reads %s", (text, expected) => {
  expect(parseHttpDate(text)).toEqual(new Date(expected));
});

test.each([
  "",
  "1994-11-06T08:49:37Z",
  "06 Nov 1994 08:49:37 GMT",
  "Sun, 6 Nov 1994 08:49:37 GMT",
  "Sun, 06 Nov 1994 08:49:37",
  "Sun, 06 Nov 1994 08:49:37 UTC",
  "Sun, 06 Nov 1994 08:49:37 +0000",
  "Sun, 06 Nov 94 08:49:37 GMT",
  "sun, 06 nov 1994 08:49:37 gmt",
  "Sun, 06 Nov 1994 24:00:00 GMT",
  "Sun, 06 Nov 1994 08:60:00 GMT",
  "Sun, 06 Foo 1994 08:49:37 GMT",
  "Sun Nov 6 08:49:37 1994",
  "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
])("does not take %j for a date", (text) => {
  expect(parseHttpDate(text)).toBeUndefined();
});
