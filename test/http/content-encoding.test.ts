import { describe, expect, it } from "vitest";
import { refuseEncodedContent } from "../../src/http/content-encoding.ts";

describe("encoded content", () => {
  it.each([{}, { "content-encoding": "identity" }, { "content-encoding": " IDENTITY " }])(
    "passes with %o",
    (headers) => {
      expect(() => refuseEncodedContent(headers)).not.toThrow();
    },
  );

  it.each(["gzip", "", "identity, gzip"])("is refused as %j", (coding) => {
    expect(() => refuseEncodedContent({ "content-encoding": coding })).toThrow(
      expect.objectContaining({
        status: 415,
        code: "UNSUPPORTED_ENCODING",
        headers: { "accept-encoding": "identity" },
      }),
    );
  });
});
