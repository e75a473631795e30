import { describe, expect, it } from "vitest";
import { decodeHtml, invalidHtml } from "../../../src/html/edit/invalid-html.ts";

describe("decodeHtml", () => {
  it("reads UTF-8 without its byte order mark", () => {
    expect(decodeHtml(Buffer.from("\ufeffé"))).toBe("é");
  });

  it("refuses what is not UTF-8, lone surrogates too, and NUL", () => {
    expect(() => decodeHtml(Buffer.from([0xe9]))).toThrow("not valid UTF-8");
    expect(() => decodeHtml(Buffer.from([0xed, 0xa0, 0x80]))).toThrow("not valid UTF-8");
    expect(() => decodeHtml(Buffer.from("a\nb\0"))).toThrow("NUL character (line 2, column 2)");
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
