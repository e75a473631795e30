import { describe, expect, it } from "vitest";
import { isLoopback, openHosts } from "../../src/cli/open-hosts.ts";
import { accessLog } from "../../src/plugins/access-log.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { directory } from "../../src/plugins/directory.ts";
import { healthCheck } from "../../src/plugins/health-check.ts";
import { metrics } from "../../src/plugins/metrics.ts";
import { rateLimit } from "../../src/plugins/rate-limit.ts";

const auth = basicAuth({ users: async () => false });

describe("hosts that are open to all", () => {
  it("are those without a plugin that could ask who somebody is", () => {
    const harmless = [accessLog({ write: () => {} }), metrics(), healthCheck(), rateLimit(), { name: "request-log" }];
    const hosts = {
      a: { root: "a", plugins: harmless },
      b: { root: "b", plugins: [...harmless, auth] },
      c: { root: "c" },
      d: { root: "d", plugins: [{ name: "single sign-on" }] },
    };
    expect(openHosts({ hosts })).toEqual(["a", "c"]);
  });

  it("are not those that ask in a part only, which is what somebody wanted", () => {
    expect(openHosts({ root: ".", plugins: [directory({ directory: "/private", plugins: [auth] })] })).toEqual([]);
  });

  it("are called * where there is one without a name", () => {
    expect(openHosts({ root: "." })).toEqual(["*"]);
  });
});

describe("a loopback address", () => {
  it.each(["127.0.0.1", "127.9.8.7", "localhost", "::1", "::ffff:127.0.0.1"])("is %s", (address) => {
    expect(isLoopback(address)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "192.168.0.1", "127.0.0.1.example", "localhost.example", "1270.0.1.1"])(
    "is not %s",
    (address) => {
      expect(isLoopback(address)).toBe(false);
    },
  );
});
