import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { type Answer, send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const page = `<!doctype html><ul id="list">${"<li>item</li>".repeat(100)}</ul>`;
const [br, gz] = [brotliCompressSync(page), gzipSync(page)];
const browser = { "accept-encoding": "gzip, deflate, br" };

type Asks = (method: string, path: string, headers?: Record<string, string>, body?: string) => Promise<Answer>;

/** A site of a page with two compressed forms of it, all as old as each other unless `ages` says otherwise (seconds). */
async function site(ages: Readonly<Record<string, number>> = {}, config: FileServerConfig = {}): Promise<Asks> {
  const root = await temporaryDirectory();
  const files = { "index.html": page, "index.html.br": br, "index.html.gz": gz, "alone.txt": "plain" };
  const now = Date.now() / 1000;
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(root, name), content);
    await utimes(join(root, name), now, now - (ages[name] ?? 0));
  }
  const { url } = await serve({ root, precompressed: true, ...config });
  return (method, path, headers = {}, body) => send(url, method, path, { headers, body });
}

describe("a file that lies compressed beside another", () => {
  it.each([
    ["gzip, deflate, br", "br", br],
    ["gzip", "gzip", gz],
    ["br;q=0.5, gzip", "gzip", gz],
    ["br;q=0, *", "gzip", gz],
    ["zstd", undefined, Buffer.from(page)],
    ["identity, br;q=0.5", undefined, Buffer.from(page)],
    ["", undefined, Buffer.from(page)],
  ])("is sent to clients that take it: %j", async (accepted, coding, content) => {
    const ask = await site();
    const { status, headers, bytes } = await ask("GET", "/index.html", { "accept-encoding": accepted });
    expect([status, headers["content-encoding"], headers["vary"]]).toEqual([200, coding, "range, accept-encoding"]);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-length": String(content.length),
    });
    expect(bytes.equals(content)).toBe(true);
  });

  it("is sent for the index of a directory, and described to HEAD", async () => {
    const ask = await site();
    const { headers, bytes } = await ask("GET", "/", { ...browser, accept: "text/html" });
    expect(brotliDecompressSync(bytes).toString()).toBe(page);
    expect(headers["vary"]).toBe("accept, authorization, range, accept-encoding");
    expect((await ask("HEAD", "/index.html", browser)).headers).toMatchObject({
      "content-encoding": "br",
      "content-length": String(br.length),
    });
  });

  it("has a tag of its own for caches, and ranges of its bytes", async () => {
    const ask = await site();
    const tagOf = async (accepted: string): Promise<string> =>
      (await ask("GET", "/index.html", { "accept-encoding": accepted })).headers.etag ?? "";
    const tags = [await tagOf("br"), await tagOf("gzip"), await tagOf("identity")];
    expect(new Set(tags).size).toBe(3);
    const [tag = ""] = tags;
    const cached = await ask("GET", "/index.html", { ...browser, "if-none-match": tag });
    expect(cached).toMatchObject({ status: 304, headers: { etag: tag, vary: "range, accept-encoding" } });
    expect((await ask("GET", "/index.html", { "if-none-match": tag })).status).toBe(200);
    const part = await ask("GET", "/index.html", { ...browser, range: "bytes=2-5", "if-range": tag });
    expect(part).toMatchObject({ status: 206, headers: { "content-encoding": "br" } });
    expect(part.bytes.equals(br.subarray(2, 6))).toBe(true);
    const whole = await ask("GET", "/index.html", { range: "bytes=2-5", "if-range": tag });
    expect(whole.status).toBe(200);
  });

  it("is not used once it is older than the file, until somebody makes a new one", async () => {
    const ask = await site({ "index.html.br": 60 });
    expect((await ask("GET", "/index.html", browser)).headers["content-encoding"]).toBe("gzip");
    await ask("PUT", "/index.html", {}, "<p>new");
    const { headers, text } = await ask("GET", "/index.html", browser);
    expect([headers["content-encoding"], text]).toEqual([undefined, "<p>new"]);
    await ask("PUT", "/index.html.br", {}, "compressed");
    expect(await ask("GET", "/index.html", browser)).toMatchObject({
      text: "compressed",
      headers: { "content-encoding": "br" },
    });
  });

  it("lets a client that was sent it change the file under the tag that it got", async () => {
    const ask = await site();
    const tag = (await ask("GET", "/index.html", browser)).headers.etag ?? "";
    const element = { range: "selector=#list", "if-match": tag };
    expect((await ask("POST", "/index.html", element, "<li>new</li>")).status).toBe(206);
    expect((await ask("PUT", "/index.html", { "if-match": tag }, "again")).status).toBe(412);
    const newTag = (await ask("GET", "/index.html", browser)).headers.etag ?? "";
    expect((await ask("PUT", "/index.html", { "if-match": newTag }, "again")).status).toBe(200);
  });

  it("has no part in requests for elements", async () => {
    const ask = await site();
    const { status, headers, text } = await ask("GET", "/index.html", { ...browser, range: "selector=li:first-child" });
    expect([status, headers["content-encoding"], text]).toEqual([206, undefined, "<li>item</li>"]);
  });

  it("is a file like others under its own name", async () => {
    const ask = await site();
    const { headers, bytes } = await ask("GET", "/index.html.gz");
    expect([headers["content-encoding"], bytes.equals(gz)]).toEqual([undefined, true]);
  });

  it("is sent only where the option is on", async () => {
    const ask = await site({}, { precompressed: false });
    const { headers, text } = await ask("GET", "/index.html", browser);
    expect([headers["content-encoding"], headers["vary"], text]).toEqual([undefined, "range", page]);
  });

  it("is not needed", async () => {
    const ask = await site();
    const { headers, text } = await ask("GET", "/alone.txt", browser);
    expect([headers["content-encoding"], headers["vary"], text]).toEqual([undefined, "accept-encoding", "plain"]);
  });
});
