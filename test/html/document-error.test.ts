import { describe, expect, it } from "vitest";
import { DocumentError, invalidHtml } from "../../src/html/document-error.ts";

describe("DocumentError", () => {
  it("is an Error with a code for programs and a message for people", () => {
    const error = new DocumentError("INVALID_SELECTOR", "The selector ends too early.");
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.message]).toEqual([
      "DocumentError",
      "INVALID_SELECTOR",
      "The selector ends too early.",
    ]);
  });
});

describe("invalidHtml", () => {
  it("says what is wrong, and where", () => {
    expect(invalidHtml("it is blue", 3, 4)).toMatchObject({
      code: "INVALID_HTML",
      message: "The supplied HTML is not valid: it is blue (line 3, column 4).",
    });
  });
});
