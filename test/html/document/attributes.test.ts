import { expect, it } from "vitest";
import { Attributes, noAttributes } from "../../../src/html/document/attributes.ts";

it("has no attribute that nobody set", () => {
  expect(["constructor", "toString", "__proto__"].map((name) => new Attributes()[name])).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(Object.isFrozen(noAttributes)).toBe(true);
});
