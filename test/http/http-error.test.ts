import { describe, expect, it } from "vitest";
import { HttpError, withoutTrace } from "../../src/http/http-error.ts";

describe("an HttpError", () => {
  it("carries status, code, details and header fields", () => {
    const error = new HttpError(405, "METHOD_NOT_ALLOWED", "Supported here: GET.", { headers: { allow: "GET" } });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "HttpError",
      status: 405,
      code: "METHOD_NOT_ALLOWED",
      message: "Supported here: GET.",
      headers: { allow: "GET" },
      reason: "Method Not Allowed",
    });
    expect("cause" in error).toBe(false);
  });

  it("keeps its cause, be it a falsy one", () => {
    const cause = new Error("underneath");
    expect(new HttpError(500, "X", "x", { cause }).cause).toBe(cause);
    expect(new HttpError(500, "X", "x", { cause: null }).cause).toBe(null);
  });

  it("has no trace where it refuses requests by the thousand, and others still have theirs", () => {
    const error = withoutTrace(() => new HttpError(429, "RATE_LIMITED", "Try again."));
    expect(error.stack?.split("\n")).toHaveLength(1);
    expect(new HttpError(400, "X", "x").stack).toContain("http-error.test.ts");
    expect(() => withoutTrace(() => new HttpError(200, "X", "x"))).toThrow(RangeError);
    expect(new Error("later").stack).toContain("http-error.test.ts");
  });
});
