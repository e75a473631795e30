import { expect, it } from "vitest";
import { isPseudoElement, pseudoElementArgument } from "../../../src/html/selector/pseudo-elements.ts";

it("tells pseudo-elements from functions, and knows every name that begins with -webkit-", () => {
  expect(["before", "-webkit-whatever", "part", "unknown"].map(isPseudoElement)).toEqual([true, true, false, false]);
  const [none, part] = ["before", "part"].map(pseudoElementArgument);
  expect([none, part]).toEqual([undefined, expect.any(RegExp)]);
});
