import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { bodyText, withBody } from "../../src/server/reply.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";

/** What docs/writing-a-plugin.md teaches. */
const stamped: Plugin = {
  name: "stamped",
  async handle(_exchange, next) {
    const reply = await next();
    const isPage = reply.status === 200 && String(reply.headers["content-type"]).startsWith("text/html");
    return isPage ? withBody(reply, `${await bodyText(reply)}<p>stamped`) : reply;
  },
};

const page = `<p>${"hello ".repeat(500)}`;

describe("a plugin that changes pages", () => {
  const storage = () => memoryStorage({ "/index.html": page, "/about.html": page, "/about.html.gz": gzipSync(page) });
  const codings = ["identity", "gzip", "br", "deflate, gzip;q=0.5"];
  const configs: readonly FileServerConfig[] = [{}, { compress: true }, { precompressed: true }];

  it.each(configs)("changes them at every URL, whatever coding the client takes: %j", async (config) => {
    const { url } = await serve({ storage: storage(), extensions: [".html"], plugins: [stamped], ...config });
    for (const coding of codings) {
      for (const target of ["/", "/about", "/about.html"]) {
        const headers = { "accept-encoding": coding };
        const reply = await send(url, "GET", target, { headers });
        expect([reply.status, reply.text]).toEqual([200, `${page}<p>stamped`]);
        expect(reply.headers).not.toHaveProperty("content-encoding");
        expect(reply.headers.etag).toMatch(/^W\/"[^"]+"$/);
        const head = await send(url, "HEAD", target, { headers });
        expect([head.status, head.text, head.headers.etag]).toEqual([200, "", reply.headers.etag]);
        const again = { ...headers, "if-none-match": String(reply.headers.etag) };
        expect((await send(url, "GET", target, { headers: again })).status).toBe(304);
      }
    }
  });

  it("leaves a part of a page as it is", async () => {
    const { url } = await serve({ storage: storage(), plugins: [stamped] });
    expect((await send(url, "GET", "/about.html", { headers: { range: "bytes=0-2" } })).text).toBe("<p>");
  });

  it("fails loudly where it leaves the coding of what it has replaced", async () => {
    const errors: unknown[] = [];
    const careless: Plugin = {
      name: "careless",
      handle: async (_exchange, next) => ({ ...(await next()), body: "plain" }),
    };
    const onError = (error: unknown): void => void errors.push(error);
    const { url } = await serve({ storage: storage(), compress: true, plugins: [careless], onError });
    expect((await send(url, "GET", "/about.html", { headers: { "accept-encoding": "gzip" } })).status).toBe(500);
    expect(errors).toMatchObject([
      { message: 'plugin "careless" returned plain text as gzip: expected withBody(reply, text)' },
    ]);
  });

  it("fails where the content is in a coding that is not known", async () => {
    const reply = { status: 200, headers: { "content-encoding": "x" }, body: new Uint8Array([1]) };
    await expect(bodyText(reply)).rejects.toThrow("the content of the reply is x, which is not known here");
  });
});
