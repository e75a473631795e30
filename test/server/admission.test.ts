import { describe, expect, it } from "vitest";
import { clientOf, refuseEncodedContent, unavailable, usageLimit } from "../../src/server/admission.ts";

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
    const take = usageLimit(4);
    take("192.0.2.1");
    take("192.0.2.1");
    expect(() => take("192.0.2.1")).toThrow(overloaded);
    take("192.0.2.2");
    take("192.0.2.3");
    expect(() => take("192.0.2.4")).toThrow(overloaded);
    const takeSeveral = usageLimit(10);
    expect(() => takeSeveral("192.0.2.1", 6)).toThrow(overloaded);
    takeSeveral("192.0.2.1", 5)();
    takeSeveral("192.0.2.1", 5);
  });

  it("are free again once they are given back, however often that is said", () => {
    const take = usageLimit(2);
    const giveBack = take("192.0.2.1");
    take("192.0.2.2");
    giveBack();
    giveBack();
    take("192.0.2.1");
    expect(() => take("192.0.2.3")).toThrow(overloaded);
  });

  it("count the addresses of one IPv6 network as one", () => {
    const take = usageLimit(2);
    take("2001:db8::1");
    expect(() => take("2001:db8::2")).toThrow(overloaded);
    take("2001:db8:0:1::1");
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

it("takes the address for a client, and the user there who proved to be one", () => {
  expect(clientOf({ address: "::1", user: undefined })).toEqual({ address: "::1", account: "", isKnown: false });
  const user = { name: "ada", roles: [] };
  expect(clientOf({ address: "::1", user })).toEqual({ address: "::1", account: "ada", isKnown: true });
});
