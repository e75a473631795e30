import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
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
  it("is the peer's where nobody is said to be trusted", async () => {
    expect(await addressOf({}, { "x-forwarded-for": xff, forwarded: "for=10.0.0.1" })).toBe("127.0.0.1");
  });

  it.each([
    ["the peer's, trusting nobody", false, xff, "127.0.0.1"],
    ["the peer's, where nothing is reported", true, "", "127.0.0.1"],
    ["the last that a trusted peer reports", "loopback", xff, "10.0.0.1"],
    ["the first that no subnet covers", "loopback, 10.0.0.0/8", xff, "203.0.113.9"],
    ["never what stands before an untrusted one", ["loopback", "10.0.0.1"], `1.1.1.1, ${xff}`, "10.0.0.2"],
  ] as const)("is %s", async (_what, trustProxy, forwarded, address) => {
    expect(await addressOf({ trustProxy }, { "x-forwarded-for": forwarded })).toBe(address);
  });

  it("is read from all fields of a header that was sent twice, in order", async () => {
    const { port } = await serve({ storage: memoryStorage(), plugins: [teller], trustProxy: 1 });
    const lines = ["X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 203.0.113.2"];
    expect((await rawRequest(port, "GET", "/", lines)).body).toBe("203.0.113.2");
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

  it("is the client's, or a new UUID where that is not usable", async () => {
    expect(await idFor("  padded ")).toBe("padded");
    for (const id of ["", "a b", "<b>", "\u00e4", "a\tb"]) expect(await idFor(id)).toMatch(uuid);
  });

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
