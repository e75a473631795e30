import { describe, expect, it } from "vitest";
import { clientOf } from "../../src/elements/element-request.ts";

describe("clientOf", () => {
  it("is the address for strangers, and the user there who proved to be one", () => {
    expect(clientOf({ address: "::1", user: undefined } as never)).toEqual({
      address: "::1",
      account: "",
      isKnown: false,
    });
    const user = { name: "ada", roles: [] };
    expect(clientOf({ address: "::1", user } as never)).toEqual({ address: "::1", account: "ada", isKnown: true });
  });
});
