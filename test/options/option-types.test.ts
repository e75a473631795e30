import { describe, expect, it } from "vitest";
import {
  aFunction,
  aPlugin,
  fileLocation,
  hasMethods,
  pluginOptions,
  positiveInteger,
  requestPath,
  timerSeconds,
} from "../../src/options/option-types.ts";
import { accepts, type Schema } from "../../src/options/schema.ts";

describe("the types of options", () => {
  it.each<[string, Schema, readonly unknown[], readonly unknown[]]>([
    ["positiveInteger", positiveInteger, [1, 10_000], [0, -1, 1.5, Number.NaN, "1"]],
    ["timerSeconds", timerSeconds, [0.5, 1_000_000], [0, -1, 1_000_001, Number.POSITIVE_INFINITY]],
    ["requestPath", requestPath, ["/", "/ws", "/a b/"], ["ws", "/a/../b", "/a//b", 1]],
    ["fileLocation", fileLocation, ["log", import.meta.url, new URL(import.meta.url)], ["", "http://x/", "a\0"]],
    ["aFunction", aFunction, [() => {}], [{}, undefined]],
    ["aPlugin", aPlugin, [{ name: "mine" }], [{}, { name: 1 }, null]],
  ])("%s takes what it says", (_name, type, right, wrong) => {
    for (const value of right) expect(accepts(type, value), String(value)).toBe(true);
    for (const value of wrong) expect(accepts(type, value), String(value)).toBe(false);
  });

  it("knows an object by its methods", () => {
    expect(hasMethods("take", "give")({ take() {}, give() {} })).toBe(true);
    for (const other of [{ take() {} }, { take() {}, give: 1 }, null, "text"]) {
      expect(hasMethods("take", "give")(other)).toBe(false);
    }
  });

  it("lets every option of a plugin be left out, and none be misspelt", () => {
    const options = pluginOptions({ path: requestPath });
    expect(accepts(options, {})).toBe(true);
    expect(accepts(options, { pth: "/" })).toBe(false);
  });
});
