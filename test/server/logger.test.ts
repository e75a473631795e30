import { describe, expect, it } from "vitest";
import { messageOf, notify } from "../../src/server/logger.ts";

describe("notify", () => {
  it("calls the function, once and before it returns", () => {
    let calls = 0;
    notify(
      () => {
        calls += 1;
      },
      (error) => expect.fail(String(error)),
    );
    expect(calls).toBe(1);
  });

  it("hands over what is thrown", () => {
    const failures: unknown[] = [];
    notify(
      () => {
        throw "broken";
      },
      (error) => failures.push(error),
    );
    expect(failures).toEqual(["broken"]);
  });

  it("hands over what a promise rejects with", async () => {
    const failure = new Promise((resolve) => notify(() => Promise.reject("broken"), resolve));
    expect(await failure).toBe("broken");
  });
});

it.each([
  [new TypeError("no such thing"), "no such thing"],
  ["a text", "a text"],
  [undefined, "undefined"],
  [Object.create(null, { toString: { value: () => "odd" } }), "odd"],
])("says what was thrown: %o", (thrown, message) => {
  expect(messageOf(thrown)).toBe(message);
});
