import { expect, test } from "vitest";
import { requestId } from "../../src/http/request-id.ts";

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test.each(["a", "A-1_b.2", "x".repeat(128)])("keeps the client's %s", (id) => {
  expect(requestId(id)).toBe(id);
});

test.each([undefined, "", "x".repeat(129), "a b", "a\nb", "a\n", "a,b", "<b>", "é", "a/b", "a:b"])(
  "makes its own for %j",
  (header) => {
    expect(requestId(header)).toMatch(uuid);
    expect(requestId(header)).not.toBe(requestId(header));
  },
);
