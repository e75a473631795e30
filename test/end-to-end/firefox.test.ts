import { join } from "node:path";
import { type Browser, type LaunchOptions, launch, type Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { history } from "../../src/plugins/history.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { pageTimeout } from "../helpers/chromium.ts";
import { exampleSite } from "../helpers/example-site.ts";
import { programPath } from "../helpers/needs.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";
import { cards, expectEachCardOnce, movesOf, serveBoard, watchCards } from "./kanban-board.ts";

const launching = (): LaunchOptions => ({
  browser: "firefox",
  executablePath: programPath("firefox") ?? "",
  headless: true,
  timeout: pageTimeout,
});

describe("in Firefox", { tags: ["firefox", "campaign"] }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch(launching());
  });
  afterAll(() => browser.close());

  async function open(url: string): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    page.setDefaultTimeout(pageTimeout);
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(String(error)));
    await page.goto(url);
    return { page, problems };
  }

  const textsOf = (page: Page, selector: string): Promise<Array<string | null>> =>
    page.$$eval(selector, (elements) => elements.map(({ textContent }) => textContent));

  it.each([
    ["light", 1],
    ["dark", 0],
  ] as const)("pages fit a window and a phone, in %s", async (scheme, override) => {
    const preferences = { "layout.css.prefers-color-scheme.content-override": override };
    const own = await launch({ ...launching(), extraPrefsFirefox: preferences });
    onTestFinished(() => own.close());
    const page = await own.newPage();
    page.setDefaultTimeout(pageTimeout);
    const { url } = await exampleSite();
    const listing = await serve({
      storage: memoryStorage({ "/README.md": "# Hello", "/a.txt": "" }),
      listing: { edit: true },
    });
    for (const address of [`${url}/`, `${url}/to-do.html`, `${url}/board/`, `${listing.url}/`, `${listing.url}/none`]) {
      await page.goto(address);
      for (const width of [1280, 390]) {
        await page.setViewport({ width, height: 800 });
        const [isDark, overflow] = await page.evaluate(() => [
          getComputedStyle(document.body)
            .backgroundColor.match(/\d+/g)
            ?.map(Number)
            .slice(0, 3)
            .every((part) => part < 128),
          document.documentElement.scrollWidth - window.innerWidth,
        ]);
        expect([address, width, isDark, Number(overflow) <= 0]).toEqual([address, width, scheme === "dark", true]);
      }
    }
  });

  it("live pages show in each of two windows what is done in the other", async () => {
    const { url } = await exampleSite();
    const [one, other] = [await open(`${url}/to-do.html`), await open(`${url}/to-do.html`)];
    for (const { page } of [one, other]) await page.waitForSelector(".connection.live");
    await one.page.type(".add input", "Water the plants");
    await one.page.keyboard.press("Enter");
    await other.page.waitForFunction("document.querySelectorAll('#todo li').length === 6");
    await other.page.locator("#kite input").click();
    await one.page.waitForSelector("#kite.done");
    expect([...one.problems, ...other.problems]).toEqual([]);
  });

  it("the playground lights up, edits, and shows what has changed", async () => {
    const { url, stored } = await exampleSite();
    const { page, problems } = await open(`${url}/`);
    await page.waitForFunction("document.querySelector('.count')?.textContent === '1 element'");
    await page.locator("::-p-text(POST #menu)").click();
    await page.keyboard.press("Enter");
    await page.waitForSelector(".diff ins");
    expect(await textsOf(page, ".diff ins")).toEqual(['+     <li data-price="1.20">A biscuit</li></ul>']);
    expect(await stored("tea-room.html")).toContain("A biscuit");
    expect(problems).toEqual([]);
  });

  it("the board has every card once in each of four windows, whatever they move at once", async () => {
    const { url, stored } = await serveBoard();
    const opened = await Promise.all(Array.from({ length: 4 }, () => open(`${url}/`)));
    for (const { page } of opened) {
      await page.waitForSelector("html.live");
      await page.evaluate(watchCards, cards);
    }
    await Promise.all(
      opened.map(async ({ page }, window) => {
        for (const { card, arrow } of movesOf(window)) {
          const press = (element: Element, key: string): boolean =>
            element.dispatchEvent(new KeyboardEvent("keydown", { key, altKey: true, bubbles: true }));
          await page.$eval(card, press, arrow);
        }
        await page.waitForSelector("html:not([aria-busy=true])");
      }),
    );
    await expectEachCardOnce(await stored(), opened);
    for (const { problems } of opened) expect(problems).toEqual([]);
  });

  it("a change is undone, and an old version comes back, on the pages of a history", async () => {
    const repository = join(await temporaryDirectory(), "site.git");
    const storage = memoryStorage({ "/list.html": "<li id=a>one</li>\n<hr>\n<li id=b>two</li>\n" });
    const { url, files } = await serve({ storage, plugins: [history({ repository })] });
    for (const id of ["a", "b"]) await files.edit("/list.html", [{ op: "setText", selector: `#${id}`, text: "new" }]);
    await expect.poll(async () => (await files.history("/list.html")).versions.length).toBe(3);
    const { page, problems } = await open(`${url}/history/list.html`);
    const link = await page.$$eval("ol.versions a", (links) =>
      links.map(({ href }) => href).filter((href) => href.endsWith("/changes")),
    );
    const stored = async (): Promise<string> => (await files.read("/list.html")).content.toString();
    for (const width of [1280, 390]) {
      await page.setViewport({ width, height: 800 });
      await page.goto(link[1] ?? "");
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    }
    expect(await textsOf(page, ".without :is(ins, del)")).toEqual(["<li id=a>new</li>", "<li id=a>one</li>"]);
    await Promise.all([page.waitForNavigation(), page.click(".without button")]);
    await expect.poll(stored).toBe("<li id=a>one</li>\n<hr>\n<li id=b>new</li>\n");
    await page.goto(link[1] ?? "");
    await Promise.all([page.waitForNavigation(), page.click(".as button")]);
    await expect.poll(stored).toBe("<li id=a>new</li>\n<hr>\n<li id=b>two</li>\n");
    expect(problems).toEqual([]);
  });

  it("a listing filters, previews, uploads, edits and deletes", async () => {
    const storage = memoryStorage({ "/README.md": "# Hello", "/a.txt": "one", "/b.txt": "" });
    const { url } = await serve({ storage, listing: { edit: true } });
    const { page, problems } = await open(`${url}/`);
    await page.waitForSelector(".readme h1");
    await page.keyboard.press("/");
    await page.keyboard.type("a.t");
    expect(await textsOf(page, "main > table > tbody > tr:not([hidden]) a")).toEqual(["a.txt"]);
    await page.keyboard.press("Escape");
    const file = join(await temporaryDirectory({ "new.txt": "from Firefox" }), "new.txt");
    const chooser = await page.waitForSelector<"input[type=file]">("input[type=file]");
    await chooser?.uploadFile(file);
    await page.waitForSelector("[aria-label='Delete new.txt']");
    expect((await send(url, "GET", "/new.txt")).text).toBe("from Firefox");
    await page.locator("[aria-label='Edit a.txt']").click();
    await page.locator("dialog textarea").fill("two");
    await page.locator("dialog button.main").click();
    await page.waitForSelector("dialog", { hidden: true });
    expect((await send(url, "GET", "/a.txt")).text).toBe("two");
    page.once("dialog", (dialog) => dialog.accept());
    await page.locator("[aria-label='Delete a.txt']").click();
    await expect.poll(async () => (await send(url, "HEAD", "/a.txt")).status).toBe(404);
    expect(problems).toEqual([]);
  });
});
