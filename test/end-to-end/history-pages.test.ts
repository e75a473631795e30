import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer } from "../../src/file-server.ts";
import { history } from "../../src/plugins/history.ts";
import { violationsIn } from "../helpers/axe.ts";
import { pageTimeout, sharedChromium } from "../helpers/chromium.ts";
import { listen } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

describe("the pages of a history", { tags: ["chromium"] }, () => {
  it("are reached from the listing, say what one gets before a change is undone, and have no fault for axe", async () => {
    const directory = await temporaryDirectory({
      "site/list.html": "<ul>\n<li id=a>one</li>\n<li>\n<li>\n<li id=b>two</li>\n</ul>\n",
    });
    const files = createFileServer({
      root: join(directory, "site"),
      plugins: [history({ repository: join(directory, "site.git") })],
    });
    await files.ready();
    const server = createServer(files);
    const url = `http://localhost:${await listen(server)}`;
    onTestFinished(async () => {
      await files.close();
      server.closeAllConnections();
      server.close();
    });
    await files.edit("/list.html", [{ op: "setText", selector: "#a", text: "1" }], { user: "ada" });
    await files.edit("/list.html", [{ op: "setText", selector: "#b", text: "2" }]);
    await expect.poll(async () => (await files.history("/list.html")).versions.length).toBe(3);

    const browser = await sharedChromium();
    const page = await browser.newPage();
    page.setDefaultTimeout(pageTimeout);
    onTestFinished(() => page.close());
    const looks = [1280, 390].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })));
    await page.goto(`${url}/`);
    await page.getByRole("button", { name: "History list.html" }).click();
    await page.waitForURL(`${url}/history/list.html`);
    const changes = await page.locator("ol.versions a", { hasText: "PATCH" }).nth(1).getAttribute("href");
    for (const path of ["/history/", "/history/list.html", changes ?? ""]) {
      await page.goto(url + path);
      for (const { width, scheme } of looks) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: scheme });
        expect({ path, width, scheme, found: await violationsIn(page) }).toEqual({ path, width, scheme, found: [] });
      }
      const isNarrow = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
      expect([path, isNarrow]).toEqual([path, true]);
    }
    const linesOf = (part: string): Promise<string[]> => page.locator(`${part} :is(ins, del)`).allTextContents();
    expect(await linesOf("main > div")).toEqual(["<li id=a>one</li>", "<li id=a>1</li>"]);
    expect(await linesOf(".without")).toEqual(["<li id=a>1</li>", "<li id=a>one</li>"]);
    expect(await linesOf(".as")).toEqual(["<li id=b>2</li>", "<li id=b>two</li>"]);
    await page.getByRole("button", { name: "Undo this change" }).click();
    await page.waitForURL(`${url}/history/list.html`);
    const { content } = await files.read("/list.html");
    expect(content.toString()).toBe("<ul>\n<li id=a>one</li>\n<li>\n<li>\n<li id=b>2</li>\n</ul>\n");
    await expect
      .poll(async () => (await files.history("/list.html")).versions[0]?.summary)
      .toMatch(/^Undo \w+ of \/list/);

    await page.goto(url + changes);
    expect(await page.locator(".without").textContent()).toContain("The file is like that now.");
    await page.getByRole("button", { name: "Go back to this version" }).click();
    await page.waitForURL(`${url}/history/list.html`);
    expect((await files.read("/list.html", "#a")).content.toString()).toBe("<li id=a>1</li>");
  });
});
