import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import express from "express";
import { describe, expect, it } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { sample } from "../helpers/effort.ts";
import { send } from "../helpers/send.ts";
import { listen } from "../helpers/serve.ts";
import { filesBelow, projectRoot } from "../helpers/source-files.ts";
import { type Window, windows } from "./chromium.ts";
import { fakeFeed } from "./fake-feed.ts";
import { isLoaded, openPage, pageWith } from "./page-with.ts";

describe("filement/client", () => {
  it("imports nothing but its own parts, and knows nothing of Node", () => {
    for (const file of filesBelow("src/client", ".ts").filter((name) => name !== "listing/markdown.ts")) {
      const source = readFileSync(`${projectRoot}/src/client/${file}`, "utf8");
      for (const [, module] of source.matchAll(/\sfrom "([^"]+)"/g))
        expect(module).toMatch(
          /^\.(?:\/[\w-]+|\.\/(?:connection|send|selection|html\/edit\/(?:edits|class-tokens)))\.ts$/,
        );
      expect(source).not.toMatch(/\b(?:process|Buffer|require|global)\b[.(]/);
    }
  });
});

describe("connect", { tags: ["chromium"] }, () => {
  const browser = windows();

  const toldBy = ({ page }: Window, count: number): Promise<unknown> =>
    page.waitForFunction((wanted) => told.length >= wanted && told, count).then((handle) => handle.jsonValue());

  it("sends nothing by itself", async () => {
    const { url, files, page } = await openPage(browser, "", undefined, { plugins: [webSocket()] });
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("websocket", (socket) => requests.push(socket.url()));
    await page.evaluate(() => {
      client.connect().select("p");
      return fetch("/none");
    });
    expect(requests).toEqual([`${url}/none`]);
    expect(files.changes.lastId).toBe(0);
  });

  it("tells listeners of the changes of the page, whose they are, and of no others", async () => {
    const { url, files, ...window } = await openPage(browser, "<p>1", undefined, { plugins: [webSocket()] });
    await window.page.evaluate(async () => {
      const page = client.connect(`${location.href}#part`);
      await new Promise<void>((resolve) => {
        page.watch((event) => {
          told.push(event);
          if (event.type === "open") resolve();
        });
      });
      await page.select("p").replace("<p>2</p>");
    });
    await send(url, "PUT", "/page.html.txt", { body: "other" });
    await send(url, "PUT", "/page.html", {
      headers: { range: "selector=p", "x-request-id": "elsewhere" },
      body: "<p>3",
    });
    const events = await toldBy(window, 3);
    const change = { type: "change", kind: "elements-replaced", path: "/page.html", selector: "p", matches: 1 };
    expect(events).toEqual([
      { type: "open" },
      { ...(events as object[])[1], ...change, id: 1, html: "<p>2</p>", own: true },
      { ...(events as object[])[2], ...change, id: 3, html: "<p>3", own: false, requestId: "elsewhere" },
    ]);
    expect(files.changes.lastId).toBe(3);
  });

  it("has one connection for all listeners, which is closed with the last of them", async () => {
    const feed = await fakeFeed();
    const window = await openPage(browser, "");
    await window.page.evaluate((address) => {
      const page = client.connect(undefined, { webSocket: address });
      const listener = (event: { type: string }): void => void told.push(event.type);
      Object.assign(globalThis, { page, listener, unwatch: [page.watch(listener), page.watch(listener)] });
    }, feed.url);
    const caller = await feed.next();
    expect(await window.page.evaluate("[page.state, client.connect().state]")).toEqual(["closed", "idle"]);
    caller.send({ type: "hello", feed: "f", id: 0 }, { type: "gap" });
    expect(await toldBy(window, 4)).toEqual(["open", "open", "gap", "gap"]);
    expect(await window.page.evaluate("page.state")).toBe("open");
    await window.page.evaluate("unwatch.pop()(); unwatch.push(page.watch(listener))"); // the last hears that it is open
    expect(await toldBy(window, 5)).toEqual(["open", "open", "gap", "gap", "open"]);
    await window.page.evaluate("unwatch.pop()(); unwatch.pop()()");
    await caller.gone;
    await window.page.evaluate("void page.watch(listener)");
    expect((await feed.next()).query).toEqual({ document: "/page.html" });
  });

  it("tells the other listeners when one of them throws", async () => {
    const window = await openPage(browser, "", undefined, { plugins: [webSocket()] });
    await window.page.evaluate(() => {
      const page = client.connect();
      page.watch(() => {
        throw new Error("broken");
      });
      page.watch((event) => told.push(event.type));
    });
    expect(await toldBy(window, 1)).toEqual(["open"]);
    expect(window.problems).toEqual(["Error: broken"]);
  });

  const targets: ReadonlyArray<[string, string, string]> = [
    ["a page", "/d/page%20%C3%A4.html?a=b", "/d/page ä.html"],
    ["a directory", "/d/", "/d/"],
  ];

  it.each(sample(targets, 2))("follows the file of %s", async (_what, target, path) => {
    const feed = await fakeFeed();
    const { url, page } = await openPage(browser, "");
    await page.evaluate(
      ([address, webSocket]) => {
        client.connect(address, { webSocket }).watch(() => {});
      },
      [`${url}${target}`, feed.url] as const,
    );
    expect((await feed.next()).query).toEqual({ document: path });
  });

  it("finds out under which prefix the server is mounted", async () => {
    const files = createFileServer({ storage: memoryStorage(await pageWith("<p>1")), plugins: [webSocket()] });
    const server = createServer(express().use("/docs", files));
    server.on("upgrade", (request, socket, head) => {
      request.url = request.url?.replace(/^\/docs/, "");
      files.upgrade(request, socket, head);
    });
    const port = await listen(server);
    const pageUrl = `http://127.0.0.1:${port}/docs/page.html`;
    const { "/page.html": html = "" } = await pageWith("<p>1");
    await files.fetch(
      new Request("http://localhost/page.html", {
        method: "PUT",
        body: html.replaceAll("/.well-known", "/docs/.well-known"),
      }),
    );
    const window = await browser.open(pageUrl);
    await window.page.waitForFunction(isLoaded);
    await window.page.evaluate(() => {
      client.connect().watch((event) => told.push(event.type === "change" ? event.path : event.type));
    });
    await toldBy(window, 1);
    await window.page.evaluate(() => client.connect().select("p").replace("<p>2"));
    expect(await toldBy(window, 2)).toEqual(["open", "/page.html"]);
    await files.close();
  });
});
