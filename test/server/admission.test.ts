import { describe, expect, it } from "vitest";
import { refuseEncodedContent, UsageLimit, unavailable } from "../../src/server/admission.ts";

it.each([
  ["CLOSING", "5"],
  ["MAINTENANCE", "60"],
  ["OVERLOADED", "1"],
] as const)("an outage is a 503 with a code and the time to come back: %s", (code, seconds) => {
  expect(unavailable(code)).toMatchObject({ status: 503, code, headers: { "retry-after": seconds } });
});

const overloaded = expect.objectContaining({ status: 503, code: "OVERLOADED" });

describe("places", () => {
  it("leave half of them to other addresses", () => {
    const places = new UsageLimit(4);
    places.take("192.0.2.1");
    places.take("192.0.2.1");
    expect(() => places.take("192.0.2.1")).toThrow(overloaded);
    places.take("192.0.2.2");
    places.take("192.0.2.3");
    expect(() => places.take("192.0.2.4")).toThrow(overloaded);
  });

  it("are free again once they are given back, however often that is said", () => {
    const places = new UsageLimit(2, 1);
    const giveBack = places.take("192.0.2.1");
    places.take("192.0.2.2");
    giveBack();
    giveBack();
    places.take("192.0.2.1");
    expect(() => places.take("192.0.2.3")).toThrow(overloaded);
  });

  it("count the addresses of one IPv6 network as one", () => {
    const places = new UsageLimit(10, 1);
    places.take("2001:db8::1");
    expect(() => places.take("2001:db8::2")).toThrow(overloaded);
    places.take("2001:db8:0:1::1");
  });
});

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
