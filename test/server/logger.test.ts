import { runInNewContext } from "node:vm";
import { describe, expect, it, vi } from "vitest";
import { messageOf, notify } from "../../src/server/logger.ts";

describe("notify", () => {
  it("calls the function, once and before it returns", () => {
    const call = vi.fn();
    notify(call, (error) => expect.fail(String(error)));
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("hands over what is thrown", () => {
    const failed = vi.fn(() => {});
    notify(() => expect.fail("broken"), failed);
    expect(failed.mock.calls).toMatchObject([[{ message: "broken" }]]);
  });

  it.each(["own", "Node's, which is another in Jest"])("hands over what a promise rejects with: %s", async (realm) => {
    const reject = (): unknown =>
      realm === "own" ? Promise.reject("broken") : runInNewContext('Promise.reject("broken")');
    expect(await new Promise((resolve) => notify(reject, resolve))).toBe("broken");
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
