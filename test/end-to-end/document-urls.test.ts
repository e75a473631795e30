import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { windows } from "../client/chromium.ts";
import { isLoaded, pageWith } from "../client/page-with.ts";
import { connectLive } from "../helpers/live-client.ts";
import { send } from "../helpers/send.ts";
import { type Served, serve } from "../helpers/serve.ts";

const range = { range: "selector=h1" };
const about = "<h1>About</h1>";

function site(config: FileServerConfig = {}): Promise<Served> {
  const storage = memoryStorage({ "/about.html": about, "/docs/home.html": about, "/app.html": about });
  return serve({ storage, index: ["index.html", "home.html"], plugins: [webSocket()], ...config });
}

// Those that a client of the protocol asks for come first: it may stop at one that it does not know.
const ofPages = "GET, HEAD, PUT, POST, DELETE, PATCH, MOVE, COPY, OPTIONS";

/** A URL, its document, and the methods that OPTIONS names there. */
const urls: readonly (readonly [string, string, FileServerConfig, string])[] = [
  ["/about", "/about.html", { extensions: [".htm", ".html"] }, ofPages.replace("COPY", "COPY, MKCOL")],
  ["/docs/", "/docs/home.html", {}, ofPages],
  ["/users/7", "/app.html", { single: "/app.html" }, ofPages.replace("COPY", "COPY, MKCOL")],
];

describe("the document that a GET finds", () => {
  it.each(urls)("is that of every element operation and of OPTIONS: %s", async (target, document, config, allow) => {
    const { url } = await site(config);
    expect((await send(url, "GET", target)).text).toBe(about);
    expect((await send(url, "GET", target, { headers: range })).text).toBe(about);
    const options = await send(url, "OPTIONS", target);
    expect(options.headers.allow).toBe(allow);
    expect(options.headers["accept-ranges"]).toBe("selector, bytes");
    expect((await send(url, "OPTIONS", target, { headers: range })).headers.allow).toContain("PUT");
    expect((await send(url, "PUT", target, { headers: range, body: "<h1>1</h1>" })).status).toBe(206);
    expect((await send(url, "POST", target, { headers: range, body: "<b>2</b>" })).text).toBe("<h1>1<b>2</b></h1>");
    expect((await send(url, "GET", document)).text).toBe("<h1>1<b>2</b></h1>");
    expect((await send(url, "DELETE", target, { headers: range })).headers["x-selector-matches"]).toBe("1");
    expect((await send(url, "GET", document)).text).toBe("");
  });

  it.each(urls)("is that of every socket: %s", async (target, document, config) => {
    const { url } = await site(config);
    const feed = await connectLive(url, `/ws?document=${target}`);
    const items = await connectLive(url, target, { protocols: ["stream-item"] });
    const put = (path: string) => send(url, "PUT", path, { headers: range, body: "<h1>new</h1>" });
    await put("/none.html");
    await put(target);
    expect((await feed.inbox.take(2)).map(({ path }) => path)).toEqual([document, document]);
    expect(await items.texts.next()).toContain(`<span itemprop="url">${document}</span>`);
  });

  it("is not taken for the file that a write of the whole is for", async () => {
    const { url } = await site({ extensions: [".html"], single: "/app.html" });
    expect((await send(url, "GET", "/", { headers: range })).text).toBe(about); // of a directory without an index file
    for (const target of ["/about", "/users/7"]) expect((await send(url, "DELETE", target)).status).toBe(404);
    expect((await send(url, "PUT", "/about", { body: "x" })).headers.location).toBe("/about");
    expect((await send(url, "GET", "/about.html")).text).toBe(about);
  });

  it("does not tell its name to those who may not read it", async () => {
    const { url, files } = await site({ extensions: [".html"] });
    const hidden = await connectLive(url, "/ws?document=/.secret");
    expect((await hidden.inbox.next()).path).toBe("/.secret");
    await files.close();
  });

  describe("in Chromium", { tags: ["chromium"] }, () => {
    const browser = windows();

    it.each(urls)("is that of a live page at %s", async (target, document, config) => {
      const { "/page.html": page = "", ...modules } = await pageWith("<p>1");
      const storage = memoryStorage({ [document]: page, ...modules });
      const { url } = await site({ storage, ...config });
      const window = await browser.open(`${url}${target}`);
      const text = (): Promise<string | null> => window.page.locator("p").first().textContent();
      await window.page.waitForFunction(isLoaded);
      await window.page.evaluate(() => {
        const page = client.connect();
        Object.assign(globalThis, { page });
        page.mirror();
        return page.select("p").replace("<p>2</p>");
      });
      await expect.poll(text).toBe("2");
      await send(url, "PUT", document, { headers: { range: "selector=p" }, body: "<p>3</p>" });
      await expect.poll(text).toBe("3");
    });
  });
});
