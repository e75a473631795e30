import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { send } from "../helpers/send.ts";
import { rawRequest, serve } from "../helpers/serve.ts";

const teller: Plugin = { name: "teller", handle: ({ address }) => ({ status: 200, headers: {}, body: address }) };

/** The address that plugins see of a request over the loopback interface. */
async function addressOf(config: FileServerConfig, headers: Readonly<Record<string, string>>): Promise<string> {
  const { url } = await serve({ storage: memoryStorage(), plugins: [teller], ...config });
  return (await send(url, "GET", "/", { headers })).text;
}

describe("the client's address", () => {
  const xff = "203.0.113.9, 10.0.0.2, 10.0.0.1";
  const isPrivate = (address: string): boolean => address === "127.0.0.1" || address.startsWith("10.");

  it("is the peer's where nobody is said to be trusted", async () => {
    expect(await addressOf({}, { "x-forwarded-for": xff, forwarded: "for=10.0.0.1" })).toBe("127.0.0.1");
  });

  it.each([
    ["the peer's, trusting nobody", false, xff, "127.0.0.1"],
    ["the peer's, trusting no hop", 0, xff, "127.0.0.1"],
    ["the peer's, trusting another", "192.168.0.0/16", xff, "127.0.0.1"],
    ["the peer's, where nothing is reported", true, "", "127.0.0.1"],
    ["the last that a trusted peer reports", "loopback", xff, "10.0.0.1"],
    ["the last, trusting one hop", 1, xff, "10.0.0.1"],
    ["the one before, trusting two hops", 2, xff, "10.0.0.2"],
    ["the first, trusting more hops than there are", 9, xff, "203.0.113.9"],
    ["the first, trusting everybody", true, xff, "203.0.113.9"],
    ["the first that no subnet covers", "loopback, 10.0.0.0/8", xff, "203.0.113.9"],
    ["the first that no subnet of a list covers", ["127.0.0.1", "10.0.0.0/8"], xff, "203.0.113.9"],
    ["the first that a function does not trust", isPrivate, xff, "203.0.113.9"],
    ["never what stands before an untrusted one", ["loopback", "10.0.0.1"], `1.1.1.1, ${xff}`, "10.0.0.2"],
    ["IPv4, where IPv6 wraps it", "loopback", "::ffff:203.0.113.9", "203.0.113.9"],
    ["IPv6 in its shortest spelling", "loopback", "2001:DB8:0:0::1", "2001:db8::1"],
    ["without its port", "loopback", "203.0.113.9:5000", "203.0.113.9"],
    ["IPv6 without its port", "loopback", "[2001:db8::1]:5000", "2001:db8::1"],
    ["the peer's, where garbage is reported", "loopback", "<script>", "127.0.0.1"],
    ["the nearest readable", true, "203.0.113.9, unknown, 10.0.0.1", "10.0.0.1"],
  ] as const)("is %s", async (_what, trustProxy, forwarded, address) => {
    expect(await addressOf({ trustProxy }, { "x-forwarded-for": forwarded })).toBe(address);
  });

  it("is read from the one header that the proxies maintain", async () => {
    const both = { "x-forwarded-for": "203.0.113.1", forwarded: 'for="[2001:db8::2]:80";proto=https' };
    expect(await addressOf({ trustProxy: true }, both)).toBe("203.0.113.1");
    expect(await addressOf({ trustProxy: true, forwardedHeader: "forwarded" }, both)).toBe("2001:db8::2");
    expect(await addressOf({ forwardedHeader: "forwarded" }, both)).toBe("127.0.0.1");
  });

  it("is read from all fields of a header that was sent twice, in order", async () => {
    const { port } = await serve({ storage: memoryStorage(), plugins: [teller], trustProxy: 1 });
    const lines = ["X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 203.0.113.2"];
    expect((await rawRequest(port, "GET", "/", lines)).body).toBe("203.0.113.2");
  });

  it("is IPv4 where the socket says it in IPv6", async () => {
    const files = createFileServer({ storage: memoryStorage(), plugins: [teller] });
    const response = await files.fetch(new Request("http://a/"), { address: "::ffff:192.0.2.1" });
    expect(await response.text()).toBe("192.0.2.1");
  });
});

describe("the request id", () => {
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  /** The id on the reply to a request with those fields `X-Request-ID`. */
  async function idFor(...sent: readonly string[]): Promise<string | undefined> {
    const { port } = await serve({ storage: memoryStorage() });
    const { head } = await rawRequest(
      port,
      "GET",
      "/",
      sent.map((id) => `X-Request-ID: ${id}`),
    );
    return /^x-request-id: (.*)$/im.exec(head)?.[1];
  }

  it.each(["a", "0123.ABC-def_9", "x".repeat(128), "..", "null", "  padded "])("is the client's: %s", async (id) => {
    expect(await idFor(id)).toBe(id.trim());
  });

  it.each(["", "x".repeat(129), "a b", "a/b", "a:b", "a,b", "<b>", "\u00e4", '"', "a\tb", "%41"])(
    "is a new UUID where the client's is not usable: %j",
    async (id) => {
      expect(await idFor(id)).toMatch(uuid);
    },
  );

  it("is a new UUID each time where the client sends two, or none", async () => {
    const ids = await Promise.all([idFor("a", "b"), idFor(), idFor()]);
    for (const id of ids) expect(id).toMatch(uuid);
    expect(new Set(ids).size).toBe(3);
  });

  it("is the same for plugins, for observers, in the change and on the reply", async () => {
    const seen: unknown[] = [];
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const witness: Plugin = {
      name: "witness",
      handle(exchange, next) {
        seen.push(["handle", exchange.id]);
        return next();
      },
      observe(exchange, { headers }) {
        seen.push(["observe", exchange.id, headers["x-request-id"]]);
        end();
      },
    };
    const { url, files } = await serve({ storage: memoryStorage(), plugins: [witness] });
    files.changes.subscribe(({ requestId }) => seen.push(["change", requestId]));
    const { headers } = await send(url, "PUT", "/a.txt", { headers: { "x-request-id": "me-1" }, body: "x" });
    await ended;
    expect(headers["x-request-id"]).toBe("me-1");
    expect(seen).toEqual([
      ["handle", "me-1"],
      ["change", "me-1"],
      ["observe", "me-1", "me-1"],
    ]);
  });
});
