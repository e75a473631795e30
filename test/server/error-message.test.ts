import { expect, it } from "vitest";
import { messageOf } from "../../src/server/error-message.ts";

it.each([
  [new TypeError("no such thing"), "no such thing"],
  ["a text", "a text"],
  [undefined, "undefined"],
  [Object.create(null, { toString: { value: () => "odd" } }), "odd"],
])("says what was thrown: %o", (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
