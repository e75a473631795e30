import { expect, test } from "vitest";
import { attachment, parseFileName } from "../../src/http/file-name.ts";

test.each([
  ["a.txt", "a.txt"],
  ["a b.txt", "a b.txt"],
  ["na%C3%AFve.txt", "naïve.txt"],
  ["na\xc3\xafve.txt", "naïve.txt"],
  ["UTF-8''na%C3%AFve.txt", "naïve.txt"],
  ["utf-8'en-GB'na%C3%AFve.txt", "naïve.txt"],
  ["it''s.txt", "it''s.txt"],
  ["ISO-8859-1''a", "ISO-8859-1''a"],
  ["100%25.txt", "100%.txt"],
  ["a%252Fb", "a%2Fb"],
  ["..a", "..a"],
  [".env", ".env"],
  ["%61".repeat(255), "a".repeat(255)],
])("reads %s", (header, name) => {
  expect(parseFileName(header)).toBe(name);
});

test.each([undefined, "", " ", "\t", "UTF-8''", "utf-8'en' "])("misses a name in %j", (header) => {
  expect(() => parseFileName(header)).toThrow(expect.objectContaining({ status: 400, code: "MISSING_FILENAME" }));
});

test.each([
  ".",
  "..",
  "%2e%2E",
  "a/b",
  "/a",
  "a%2Fb",
  "UTF-8''..%2fetc",
  "a\\b",
  "a%5Cb",
  "a%00",
  "a%0D%0Ab",
  "a%7f",
  "a%C2%85",
  "a\tb",
  "100%",
  "%zz",
  "%C3",
  "%C0%AF",
  "na\xefve.txt",
  "UTF-8''na%EFve.txt",
  "\u012fa",
  "a".repeat(256),
  "%C3%A9".repeat(128),
])("refuses %j", (header) => {
  expect(() => parseFileName(header)).toThrow(expect.objectContaining({ status: 400, code: "INVALID_FILENAME" }));
});

test.each([
  ["a b.txt", 'attachment; filename="a b.txt"'],
  ["naïve €.txt", "attachment; filename=\"na_ve _.txt\"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt"],
  ['a"b\\c.txt', "attachment; filename=\"a_b_c.txt\"; filename*=UTF-8''a%22b%5Cc.txt"],
  ["100%41.txt", "attachment; filename=\"100_41.txt\"; filename*=UTF-8''100%2541.txt"],
  ["😀'(1)*.txt", "attachment; filename=\"_'(1)*.txt\"; filename*=UTF-8''%F0%9F%98%80%27%281%29%2A.txt"],
  ["a\r\nb\ud800.txt", "attachment; filename=\"a__b_.txt\"; filename*=UTF-8''a%0D%0Ab%EF%BF%BD.txt"],
])("has %j saved under its name", (name, field) => {
  expect(attachment(name)).toBe(field);
});
