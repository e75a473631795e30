import { expect, it } from "vitest";
import { asciiLowerCase } from "../../../src/html/document/ascii-lower-case.ts";

it("leaves letters beyond ASCII alone", () => {
  expect(asciiLowerCase("AzK\u212aÄİ")).toBe("azk\u212aÄİ");
  expect(asciiLowerCase("ABC")).toBe("abc");
});

it("does the same for a long text", () => {
  expect(asciiLowerCase("AzK\u212aÄİ[@\ud800".repeat(100))).toBe("azk\u212aÄİ[@\ud800".repeat(100));
});
