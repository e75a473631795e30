import { describe, expect, it } from "vitest";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { deferred } from "../helpers/deferred.ts";
import { send } from "../helpers/send.ts";
import { rawRequest, serve } from "../helpers/serve.ts";

const teller: Plugin = { name: "teller", handle: ({ address }) => ({ status: 200, headers: {}, body: address }) };

describe("the client's address", () => {
  const xff = "203.0.113.9, 10.0.0.2, 10.0.0.1";

  it.each([
    ["the peer's, trusting nobody", false, xff, "127.0.0.1"],
    ["the peer's, where nothing is reported", true, "", "127.0.0.1"],
    ["the last that a trusted peer reports", "loopback", xff, "10.0.0.1"],
    ["the first that no subnet covers", "loopback, 10.0.0.0/8", xff, "203.0.113.9"],
    ["never what stands before an untrusted one", ["loopback", "10.0.0.1"], `1.1.1.1, ${xff}`, "10.0.0.2"],
  ] as const)("is %s", async (_what, trustProxy, forwarded, address) => {
    const { url } = await serve({ storage: memoryStorage(), plugins: [teller], trustProxy });
    const { text } = await send(url, "GET", "/", { headers: { "x-forwarded-for": forwarded } });
    expect(text).toBe(address);
  });

  it("is read from all fields of a header that was sent twice, in order", async () => {
    const { port } = await serve({ storage: memoryStorage(), plugins: [teller], trustProxy: 1 });
    const lines = ["X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 203.0.113.2"];
    expect((await rawRequest(port, "GET", "/", lines)).body).toBe("203.0.113.2");
  });
});

describe("the request id", () => {
  it("is the same for plugins, for observers, in the change and on the reply", async () => {
    const seen: unknown[] = [];
    const { promise: ended, resolve: end } = deferred();
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
