import { describe, expect, it } from "vitest";
import { clientKey } from "../../../src/plugins/rate-limit/client-key.ts";
import type { Exchange } from "../../../src/server/exchange.ts";

/** What a key is made of; nothing else of an exchange is looked at. */
function asked(of: Partial<Exchange>): Exchange {
  return { address: "192.0.2.1", host: "example.com", user: undefined, metadata: new Map(), ...of } as Exchange;
}

describe("a client's key", () => {
  it("is the address, for the strategy ip", () => {
    const keyOf = clientKey("ip");
    expect(keyOf(asked({ user: { name: "ada" } as never }))).toBe("ip:192.0.2.1");
    expect(keyOf(asked({ address: "2001:db8::1" }))).toBe("ip:2001:db8:0:0::/64");
  });

  it("is the addressed host, for the strategy host", () => {
    expect(clientKey("host")(asked({ host: "docs.example" }))).toBe("host:docs.example");
  });

  it("is the user, for the strategy user, and the address without one", () => {
    const keyOf = clientKey("user");
    expect(keyOf(asked({ user: { name: "ada" } as never }))).toBe("user:ada");
    expect(keyOf(asked({}))).toBe("ip:192.0.2.1");
  });

  it("is the metadata authenticated_user, where a plugin set only that", () => {
    const keyOf = clientKey("user");
    expect(keyOf(asked({ metadata: new Map([["authenticated_user", "ada"]]) }))).toBe("user:ada");
    expect(keyOf(asked({ metadata: new Map([["authenticated_user", 7]]) }))).toBe("ip:192.0.2.1");
    const both = { user: { name: "ada" } as never, metadata: new Map([["authenticated_user", "bob"]]) };
    expect(keyOf(asked(both))).toBe("user:ada");
  });

  it("never is another client's, whatever a user is called", () => {
    const keyOf = clientKey("user");
    const stranger = keyOf(asked({}));
    for (const name of ["192.0.2.1", "ip:192.0.2.1", "host:example.com", ""]) {
      expect(keyOf(asked({ user: { name } as never }))).toBe(`user:${name}`);
      expect(keyOf(asked({ user: { name } as never }))).not.toBe(stranger);
    }
  });

  it("is what a function says, as it says it", () => {
    expect(clientKey(({ host }) => `tenant ${host}`)(asked({}))).toBe("tenant example.com");
    expect(clientKey(() => "")(asked({}))).toBe("");
    expect(clientKey(() => undefined)(asked({}))).toBeUndefined();
  });

  it.each([[null], [7], [Promise.resolve("a")]])("is an error where a function says %o", (key) => {
    const keyOf = clientKey(() => key as never);
    expect(() => keyOf(asked({}))).toThrow(/^rateLimit: the function keyStrategy returned .*: expected a string or/);
  });
});
