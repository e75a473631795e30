import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { eventStream } from "../../../src/plugins/event-stream.ts";
import { webSocket } from "../../../src/plugins/web-socket.ts";
import { folders } from "./folder.ts";

describe("a listing that is open", { tags: ["chromium"] }, () => {
  const open = folders();

  it.each([
    ["a web socket", webSocket],
    ["an event stream", eventStream],
  ])("shows by %s what others change in it, and folders that they make", async (_by, feed) => {
    const { page, ask, names } = await open({ "/d/a.txt": "" }, { plugins: [feed()] }, "/d/");
    const namesAfter = async (...path: Parameters<typeof ask>): Promise<string[]> => {
      await ask(...path); // again and again: until the page listens
      return names();
    };
    await expect.poll(() => namesAfter("PUT", "/d/b.txt", { body: "1" })).toEqual(["a.txt", "b.txt"]);
    await page.getByRole("searchbox").fill("b");
    await ask("PUT", "/d/c/b.txt", { body: "1" });
    await ask("PUT", "/d/bb.txt", { body: "1" });
    await expect.poll(names).toEqual(["b.txt", "bb.txt"]);
    await page.getByRole("searchbox").fill("");
    await expect.poll(names).toEqual(["c/", "a.txt", "b.txt", "bb.txt"]);
    await ask("DELETE", "/d/a.txt");
    await expect.poll(names).toEqual(["c/", "b.txt", "bb.txt"]);
  });

  it("leaves the entries as they are while some are selected", async () => {
    const files = { "/a.txt": "", "/b.txt": "" };
    const { page, ask, names } = await open(files, { plugins: [webSocket()], listing: { edit: true } });
    const told = (text: string): Promise<void> =>
      new Promise((resolve) => {
        page.on("websocket", (socket) =>
          socket.on("framereceived", ({ payload }) => payload.includes(text) && resolve()),
        );
      });
    const [greeting, change] = [told("hello"), told("deleted")];
    await page.clock.install();
    await page.reload();
    await greeting;
    await page.getByLabel("Select a.txt").check();
    await ask("DELETE", "/b.txt");
    await change;
    await page.clock.runFor(5_000);
    expect(await names()).toEqual(["a.txt", "b.txt"]);
    await page.getByLabel("Select a.txt").uncheck();
    await page.clock.runFor(5_000);
    await expect.poll(names).toEqual(["a.txt"]);
  });

  it("shows what it has missed while it was out of view, or the server was away", async () => {
    const { page, ask, names, server } = await open({ "/a.txt": "" }, { plugins: [webSocket()] });
    await setHidden(page, true);
    await ask("PUT", "/b.txt", { body: "1" });
    await setHidden(page, false);
    await expect.poll(names).toEqual(["a.txt", "b.txt"]);
    server.closeAllConnections();
    await ask("PUT", "/c.txt", { body: "1" });
    await expect.poll(names).toEqual(["a.txt", "b.txt", "c.txt"]);
  });
});

/** Tells a page that it is out of view, or in view again. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}
