import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { createFileServer } from "../../src/file-server.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import type { Answer } from "../helpers/send.ts";
import { openHttp2, rawRequest } from "../helpers/serve.ts";
import { type TestSite, testSite } from "../helpers/test-site.ts";

type Fields = Readonly<Record<string, string>>;

const host = "site.example";
const foreign = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
const files = { "/a.txt": "old", "/page.html": "<p>old</p>" };

/** A site that answers for every name. */
function site(config: Omit<FileServerConfig, "root" | "storage"> = {}): Promise<TestSite> {
  return testSite({ storage: memoryStorage(files), everything: async () => Object.keys(files) }, config);
}

const put = ({ send }: TestSite, headers: Fields): Promise<Answer> =>
  send("PUT", "/a.txt", { body: "new", headers: { host, ...headers } });

const refused = { status: 403, code: "CROSS_SITE" };
const shown = ({ status, text }: Answer) => ({ status, code: JSON.parse(text).code });

describe("a write that a browser sends for another site", () => {
  it.each<[string, Fields]>([
    ["Sec-Fetch-Site: cross-site", { "sec-fetch-site": "cross-site" }],
    ["cross-site, by whatever origin", { ...foreign }],
    ["cross-site, though the origin looks like the own one", { ...foreign, origin: `http://${host}` }],
    ["same-site of another host", { "sec-fetch-site": "same-site", origin: "http://users.site.example" }],
    ["same-site without an origin", { "sec-fetch-site": "same-site" }],
    ["Origin of another host", { origin: "https://evil.example" }],
    ["Origin of a subdomain", { origin: "http://a.site.example" }],
    ["Origin of a name that begins alike", { origin: "http://site.example.evil.example" }],
    ["Origin of a name that ends alike", { origin: "http://evil-site.example" }],
    ["Origin with the host in its user part", { origin: "http://site.example@evil.example" }],
    ["Origin of another port", { origin: "http://site.example:8080" }],
    ["Origin of another scheme", { origin: "ftp://site.example" }],
    ["Origin null, of a sandboxed page or a file", { origin: "null" }],
    ["Origin null, said to be same-site", { "sec-fetch-site": "same-site", origin: "null" }],
    ["an empty Origin", { origin: "" }],
    ["two origins in one", { origin: `http://${host} http://evil.example` }],
  ])("is 403 CROSS_SITE: %s", async (_what, headers) => {
    const to = await site();
    expect(shown(await put(to, headers))).toEqual(refused);
    expect([await to.textAt("/a.txt"), to.changes]).toEqual(["old", []]);
  });

  it.each(["PUT", "POST", "DELETE", "PATCH", "MOVE", "COPY", "MKCOL", "PROPFIND"])(
    "is refused for %s, of files and elements",
    async (method) => {
      const to = await site();
      const body = method === "DELETE" ? undefined : "<p>new</p>";
      for (const headers of [foreign, { ...foreign, range: "selector=p" }]) {
        expect(shown(await to.send(method, "/page.html", { headers, body }))).toEqual(refused);
      }
      expect([await to.textAt("/page.html"), to.changes]).toEqual(["<p>old</p>", []]);
    },
  );

  it("is refused alike for what exists and what does not, and before any plugin sees it", async () => {
    const seen: string[] = [];
    const to = await site({
      plugins: [
        {
          name: "witness",
          handle(exchange, next) {
            seen.push(exchange.path);
            return next();
          },
        },
      ],
    });
    const [there, missing] = await Promise.all(
      ["/a.txt", "/none.txt"].map((path) => to.send("DELETE", path, { headers: foreign })),
    );
    expect([there?.status, there?.text]).toEqual([403, missing?.text]);
    expect(seen).toEqual([]);
  });

  it("is refused with two Origin fields, one of them the own", async () => {
    const to = await site();
    const lines = [`Host: ${host}`, `Origin: http://${host}`, "Origin: http://evil.example", "Content-Length: 1"];
    expect((await rawRequest(to.port, "PUT", "/a.txt", lines, "x")).status).toBe(403);
    expect(await to.textAt("/a.txt")).toBe("old");
  });
});

describe("a write that no other site sends", () => {
  it.each<[string, Fields]>([
    ["neither field, as from curl and servers", {}],
    ["same-origin", { "sec-fetch-site": "same-origin", origin: `http://${host}` }],
    ["same-origin without an origin", { "sec-fetch-site": "same-origin" }],
    ["none: the user typed the address", { "sec-fetch-site": "none" }],
    ["same-site of the host itself", { "sec-fetch-site": "same-site", origin: `http://${host}` }],
    ["the own origin", { origin: `http://${host}` }],
    ["the own origin with the default port", { origin: `http://${host}:80` }],
    ["the own origin in capitals", { origin: "HTTP://SITE.EXAMPLE" }],
    ["the own origin over TLS, which may end before the server", { origin: `https://${host}` }],
    ["the own origin with a port", { host: `${host}:8080`, origin: `http://${host}:8080` }],
    ["the own origin by address", { host: "[::1]:8080", origin: "http://[::1]:8080" }],
  ])("passes: %s", async (_what, headers) => {
    const to = await site();
    expect((await put(to, headers)).status).toBe(200);
    expect(await to.textAt("/a.txt")).toBe("new");
  });
});

describe("a cross-site request that changes nothing", () => {
  it.each(["GET", "HEAD", "OPTIONS"])("passes: %s", async (method) => {
    const to = await site();
    expect((await to.send(method, "/a.txt", { headers: foreign })).status).toBe(200);
  });

  it("is not told that a page of another site may write", async () => {
    const to = await site();
    const headers = { ...foreign, "access-control-request-method": "PUT" };
    const answer = await to.send("OPTIONS", "/a.txt", { headers });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });
});

describe("allowedOrigins", () => {
  const allowedOrigins = ["https://admin.example", "http://localhost:5173", "chrome-extension://abc"];

  it.each([...allowedOrigins, "HTTPS://ADMIN.EXAMPLE:443"])(
    "lets pages of %s write, cross-site or not",
    async (origin) => {
      const to = await site({ allowedOrigins });
      expect((await put(to, { origin })).status).toBe(200);
      expect((await put(to, { origin, "sec-fetch-site": "cross-site" })).status).toBe(200);
    },
  );

  it.each(["http://admin.example", "https://admin.example:8443", "https://a.admin.example", "null", ""])(
    "does not cover %j",
    async (origin) => {
      const to = await site({ allowedOrigins });
      expect((await put(to, { origin })).status).toBe(403);
      expect((await put(to, { origin, "sec-fetch-site": "cross-site" })).status).toBe(403);
    },
  );

  it("are those of the addressed host", async () => {
    const storage = memoryStorage(files);
    const to = await site({ hosts: { "open.example": { storage, allowedOrigins }, "shut.example": { storage } } });
    const origin = "https://admin.example";
    expect((await put(to, { origin, host: "open.example" })).status).toBe(200);
    expect((await put(to, { origin, host: "shut.example" })).status).toBe(403);
  });
});

describe("the target that an Origin is compared with", () => {
  const forwarded = { host: "127.0.0.1:3000", "x-forwarded-host": host, "x-forwarded-proto": "https" };

  it("is what a trusted proxy forwards", async () => {
    const to = await site({ trustProxy: "loopback" });
    expect((await put(to, { ...forwarded, origin: `https://${host}` })).status).toBe(200);
    expect((await put(to, { ...forwarded, origin: "https://127.0.0.1:3000" })).status).toBe(403);
    expect((await put(to, { ...forwarded, origin: `http://${host}` })).status).toBe(403);
  });

  it("is not what anyone else forwards", async () => {
    const to = await site();
    expect((await put(to, { ...forwarded, "x-forwarded-host": "evil.example", ...foreign })).status).toBe(403);
    expect((await put(to, { ...forwarded, origin: `https://${host}` })).status).toBe(403);
  });

  it("is the host of an absolute target", async () => {
    const to = await site();
    const send = (origin: string) =>
      rawRequest(to.port, "PUT", `http://${host}/a.txt`, [
        "Host: other.example",
        `Origin: ${origin}`,
        "Content-Length: 0",
      ]);
    expect((await send("http://other.example")).status).toBe(403);
    expect((await send(`http://${host}`)).status).toBe(200);
  });

  it("is the authority of HTTP/2", async () => {
    const session = await openHttp2(createFileServer({ storage: memoryStorage(files) }));
    const status = async (origin: string): Promise<number> => {
      const head = { ":method": "DELETE", ":path": "/a.txt", ":authority": host, origin };
      const stream = session.request(head);
      const [answer] = await once(stream, "response");
      stream.resume();
      return answer[":status"];
    };
    expect(await status("http://evil.example")).toBe(403);
    expect(await status(`http://${host}`)).toBe(204);
  });

  it("is the URL of a fetch request", async () => {
    const server = createFileServer({ storage: memoryStorage(files) });
    const status = async (origin: string): Promise<number> =>
      (await server.fetch(new Request(`https://${host}/a.txt`, { method: "DELETE", headers: { origin } }))).status;
    expect(await status(`http://${host}`)).toBe(403);
    expect(await status(`https://${host}`)).toBe(204);
  });
});
