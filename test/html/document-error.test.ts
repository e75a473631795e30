import { describe, expect, it } from "vitest";
import { DocumentError } from "../../src/html/document-error.ts";

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
