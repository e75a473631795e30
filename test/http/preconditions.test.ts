import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it, test } from "vitest";
import { evaluatePreconditions, isPast, isRangeCurrent, preconditionFailed } from "../../src/http/preconditions.ts";

const current = { etag: '"now"', modified: new Date("2024-05-01T12:00:00.700Z") };
const before = "Wed, 01 May 2024 11:59:59 GMT";
const same = "Wed, 01 May 2024 12:00:00 GMT";
const after = "Wed, 01 May 2024 12:00:01 GMT";

describe("evaluatePreconditions", () => {
  test.each<[IncomingHttpHeaders, read: string, write: string]>([
    [{}, "proceed", "proceed"],
    [{ "if-match": '"now"' }, "proceed", "proceed"],
    [{ "if-match": '"old", "now"' }, "proceed", "proceed"],
    [{ "if-match": "*" }, "proceed", "proceed"],
    [{ "if-match": '"old"' }, "failed", "failed"],
    [{ "if-match": 'W/"now"' }, "failed", "failed"],
    [{ "if-match": "" }, "failed", "failed"],
    [{ "if-match": "now" }, "failed", "failed"],
    [{ "if-unmodified-since": before }, "failed", "failed"],
    [{ "if-unmodified-since": same }, "proceed", "proceed"],
    [{ "if-unmodified-since": after }, "proceed", "proceed"],
    [{ "if-unmodified-since": "2020" }, "proceed", "proceed"],
    [{ "if-match": '"now"', "if-unmodified-since": before }, "proceed", "proceed"],
    [{ "if-match": '"old"', "if-unmodified-since": after }, "failed", "failed"],
    [{ "if-none-match": '"now"' }, "not-modified", "failed"],
    [{ "if-none-match": 'W/"now"' }, "not-modified", "failed"],
    [{ "if-none-match": '"old", "now"' }, "not-modified", "failed"],
    [{ "if-none-match": "*" }, "not-modified", "failed"],
    [{ "if-none-match": '"old"' }, "proceed", "proceed"],
    [{ "if-none-match": "now" }, "proceed", "proceed"],
    [{ "if-modified-since": before }, "proceed", "proceed"],
    [{ "if-modified-since": same }, "not-modified", "proceed"],
    [{ "if-modified-since": after }, "proceed", "proceed"],
    [{ "if-modified-since": "2030-01-01" }, "proceed", "proceed"],
    [{ "if-none-match": '"old"', "if-modified-since": after }, "proceed", "proceed"],
    [{ "if-none-match": '"now"', "if-modified-since": before }, "not-modified", "failed"],
    [{ "if-match": '"now"', "if-none-match": '"now"' }, "not-modified", "failed"],
    [{ "if-match": '"old"', "if-none-match": '"now"' }, "failed", "failed"],
    [{ "if-unmodified-since": before, "if-modified-since": after }, "failed", "failed"],
    [{ "if-unmodified-since": same, "if-modified-since": same }, "not-modified", "proceed"],
  ])("answers %j", (headers, read, write) => {
    for (const method of ["GET", "HEAD"]) expect(evaluatePreconditions(method, headers, current)).toBe(read);
    for (const method of ["PUT", "POST", "DELETE"]) expect(evaluatePreconditions(method, headers, current)).toBe(write);
  });

  test.each<[IncomingHttpHeaders, string]>([
    [{}, "proceed"],
    [{ "if-match": "*" }, "failed"],
    [{ "if-match": '"now"' }, "failed"],
    [{ "if-none-match": "*" }, "proceed"],
    [{ "if-none-match": '"now"' }, "proceed"],
    [{ "if-unmodified-since": before }, "proceed"],
    [{ "if-modified-since": after }, "proceed"],
  ])("answers %j where nothing is stored", (headers, expected) => {
    expect(evaluatePreconditions("GET", headers, undefined)).toBe(expected);
    expect(evaluatePreconditions("PUT", headers, undefined, ['"now"'])).toBe(expected);
  });

  test("lets further tags satisfy If-Match only", () => {
    expect(evaluatePreconditions("PUT", { "if-match": '"document"' }, current, ['"document"'])).toBe("proceed");
    expect(evaluatePreconditions("PUT", { "if-match": 'W/"document"' }, current, ['"document"'])).toBe("failed");
    expect(evaluatePreconditions("GET", { "if-none-match": '"document"' }, current, ['"document"'])).toBe("proceed");
  });
});

test.each([
  [undefined, true],
  ['"now"', true],
  ['"old"', false],
  ['W/"now"', false],
  ['"now", "old"', false],
  ["now", false],
  ["*", false],
  ["", false],
  [same, true],
  [before, false],
  [after, false],
  ["Wednesday, 01-May-24 12:00:00 GMT", true],
  ["2024-05-01T12:00:00Z", false],
])("isRangeCurrent judges If-Range: %s", (ifRange, expected) => {
  expect(isRangeCurrent(ifRange, current)).toBe(expected);
});

test("never joins parts by a weak tag of its own", () => {
  expect(isRangeCurrent('W/"now"', { ...current, etag: 'W/"now"' })).toBe(false);
});

test("tells the current tag in a 412", () => {
  const error = preconditionFailed(current);
  expect(error).toMatchObject({ status: 412, code: "PRECONDITION_FAILED", headers: { etag: '"now"' } });
  expect(preconditionFailed(undefined).headers).toEqual({});
});

describe("a date that lies ahead", () => {
  const ahead = new Date(Date.now() + 3_600_000);

  it("is not told, and says nothing in a condition", () => {
    expect([isPast(ahead), isPast(new Date(Date.now() - 1))]).toEqual([false, true]);
    const stored = { etag: '"now"', modified: ahead };
    expect(evaluatePreconditions("GET", { "if-modified-since": ahead.toUTCString() }, stored)).toBe("proceed");
    expect(isRangeCurrent(ahead.toUTCString(), stored)).toBe(false);
  });
});
