import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { type Window, windows } from "../client/chromium.ts";
import { violationsIn } from "../helpers/axe.ts";
import { sample } from "../helpers/effort.ts";
import { exampleSite } from "../helpers/example-site.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";

const phone = { viewport: { width: 390, height: 844 } };

describe("the example pages", { tags: ["chromium"] }, () => {
  const browser = windows();

  /** A window in which a page is alive. */
  async function live(url: string, options?: BrowserContextOptions): Promise<Window> {
    const window = await browser.open(url, options);
    await window.page.waitForSelector(".connection.live", { state: "attached" });
    return window;
  }

  describe("the home page", () => {
    const frameOf = (page: Page) => page.frameLocator(".playground iframe");
    const wireOf = (page: Page): Promise<string[]> => page.locator(".playground .wire pre").allTextContents();

    it("lights up what a selector selects, says how much that is, and what is wrong with selector or content", async () => {
      const { url } = await exampleSite();
      const { page, problems } = await live(`${url}/`);
      const count = page.locator(".playground .count");
      await frameOf(page).locator("#menu").waitFor();
      const { height = 0 } = page.viewportSize() ?? {};
      const lastButton = await page.getByRole("button", { name: /^DELETE \[/ }).boundingBox();
      expect((lastButton?.y ?? height) + (lastButton?.height ?? 0)).toBeLessThan(height); // on the first screen
      await page.getByLabel("Selector").fill("#menu li");
      await expect.poll(() => count.textContent()).toBe("4 elements");
      const isLit = (selector: string): Promise<boolean> =>
        frameOf(page)
          .locator(selector)
          .first()
          .evaluate((element) => getComputedStyle(element).outlineStyle === "solid");
      expect([await isLit("#menu li"), await isLit("h1")]).toEqual([true, false]);
      await page.getByLabel("Selector").fill("#menu li {");
      await expect.poll(() => count.textContent()).toBe("That is no selector.");
      expect(await isLit("#menu li")).toBe(false);
      expect(problems).toEqual([]);

      // Content that is wrong, too, changes not one byte.
      await page.getByLabel("Selector").fill("#menu li");
      await page.getByRole("button", { name: "POST", exact: true }).click();
      await expect.poll(() => wireOf(page)).toContain("Nothing: not one byte.");
      expect((await wireOf(page))[1]).toMatch(/^HTTP\/1\.1 400 Bad Request\n[\s\S]*"INVALID_HTML"/);
    });

    it("shows request, reply and the lines of the file that changed, and puts the file back as it was", async () => {
      const { url, stored } = await exampleSite();
      const { page, problems } = await live(`${url}/`);
      const before = await stored("tea-room.html");
      await frameOf(page).locator("#menu").waitFor();
      await page.getByRole("button", { name: "POST #menu", exact: true }).click();
      await page.keyboard.press("Enter"); // the button that sends it has the focus
      await frameOf(page).locator("#menu").getByText("A biscuit").waitFor();
      await page.locator(".playground .diff ins").waitFor(); // the page may show the change before the reply is here
      const [request, reply, diff] = await wireOf(page);
      expect(request).toBe(
        'POST /tea-room.html HTTP/1.1\nRange: selector=#menu\nContent-Type: text/html\n\n<li data-price="1.20">A biscuit</li>',
      );
      expect(reply).toMatch(
        /^HTTP\/1\.1 206 Partial Content\nContent-Range: selector #menu\n[\s\S]*A biscuit<\/li><\/ul>$/,
      );
      expect(diff).toBe('-     </ul>+     <li data-price="1.20">A biscuit</li></ul>');

      await page.getByRole("button", { name: "DELETE [data-price='0.00']" }).click();
      await page.keyboard.press("Enter");
      await expect.poll(() => frameOf(page).getByText("The view").count()).toBe(0);
      await expect
        .poll(async () => (await wireOf(page))[1])
        .toMatch(/^HTTP\/1\.1 204 No Content\nX-Selector-Matches: 1/i);

      await page.getByRole("button", { name: "Put the page back" }).click();
      await frameOf(page).getByText("The view").waitFor();
      await expect.poll(() => stored("tea-room.html")).toBe(before);
      expect(problems).toEqual([]);
    });

    it("can be played with on a phone, with the keyboard alone", { tags: ["campaign"] }, async () => {
      const { url, stored } = await exampleSite();
      const { page } = await live(`${url}/`, { ...phone, hasTouch: true });
      await frameOf(page).locator("#menu").waitFor();
      await page.getByLabel("Selector").focus();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type("#note em");
      const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? "");
      while ((await focused()) !== "DELETE") await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByText("204 No Content. The file has changed.").waitFor();
      expect(await stored("tea-room.html")).toContain('<p id="note">The scones are .</p>');
    });

    it("sends its curl lines from the page, and copies them", async () => {
      const { url, stored } = await exampleSite();
      const { page, problems } = await live(`${url}/`, { permissions: ["clipboard-read", "clipboard-write"] });
      const runs = page.locator(".run");
      expect(await runs.count()).toBe(4);
      await runs.nth(2).getByRole("button", { name: "Run" }).click();
      await expect.poll(() => page.locator("#news li").count()).toBe(4);
      expect(await stored("index.html")).toContain("<li>This was written with curl.</li></ul>");
      await expect
        .poll(() => runs.nth(2).locator("pre").textContent())
        .toMatch(/^POST \/index\.html HTTP\/1\.1\nRange: selector=#news\n/);
      await runs.nth(0).getByRole("button", { name: "Copy" }).click();
      await page.getByText("Copied. Paste it into a terminal.").waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
        'curl -H "Range: selector=#news li" http://localhost:3000/index.html',
      );
      expect(problems).toEqual([]);
    });

    it("says without JavaScript what one would see", async () => {
      const { url } = await exampleSite();
      const { page } = await browser.open(`${url}/`, { javaScriptEnabled: false });
      expect(await page.locator("noscript").allTextContents()).toEqual([
        expect.stringContaining("there is a playground"),
        expect.stringContaining("a field for a selector"),
      ]);
      expect(await page.locator(".playground, .run").count()).toBe(0);
    });
  });

  it("say that each start begins with a fresh copy, on a phone and without JavaScript, too", {
    tags: ["campaign"],
  }, async () => {
    const { url } = await exampleSite();
    const { page } = await browser.open(`${url}/`, { ...phone, javaScriptEnabled: false });
    for (const name of sample(["", "guest-book.html", "to-do.html"], 3)) {
      await page.goto(`${url}/${name}`);
      expect(await page.locator("body > footer").textContent()).toContain(
        "Each start of the server begins with a fresh one.",
      );
      expect([name, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([name, 390]);
    }
  });

  it("wrap long words and addresses on a phone, where all targets have at least 24 pixels", async () => {
    const { url } = await exampleSite();
    const long = `https://example.org/${"long".repeat(60)}`;
    const headers = { range: "selector=#entries" };
    const entry = `<article class=entry><p>${long}</p><footer>${"Name".repeat(30)}</footer></article>`;
    await send(url, "POST", "/guest-book.html", { headers, body: entry });
    await send(url, "POST", "/to-do.html", { headers: { range: "selector=#todo" }, body: `<li>${long}</li>` });
    for (const name of sample(["", "guest-book.html", "to-do.html", "tea-room.html"], 4)) {
      const { page } = await live(`${url}/${name}`, phone);
      expect([name, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([name, 390]);
      if (name !== "tea-room.html") expect([name, await smallTargetsOf(page)]).toEqual([name, []]);
    }
  });

  it("keep the line breaks of an entry, and refuse one of spaces", { tags: ["campaign"] }, async () => {
    const { url, stored } = await exampleSite();
    const { page } = await live(`${url}/guest-book.html`);
    const before = await stored("guest-book.html");
    await page.getByLabel("Your name").fill("  ");
    await page.getByLabel("What you want to say").fill("first\nsecond");
    await page.getByRole("button", { name: "Sign" }).click();
    await page.getByText("Spaces alone are no signature.").waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("name");
    expect(await stored("guest-book.html")).toBe(before);

    await page.getByLabel("Your name").fill("Eve");
    await page.getByRole("button", { name: "Sign" }).click();
    await expect.poll(() => page.locator(".entry").count()).toBe(4);
    const linesOf = (paragraph: Element): number => {
      const range = document.createRange();
      range.selectNodeContents(paragraph);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    };
    expect(await page.locator(".entry p").last().evaluate(linesOf)).toBe(2);
  });

  it("say that a list is empty, with JavaScript and without", { tags: ["campaign"] }, async () => {
    const { url } = await exampleSite();
    await send(url, "DELETE", "/to-do.html", { headers: { range: "selector=#todo li" } });
    for (const javaScriptEnabled of [true, false]) {
      const { page } = await browser.open(`${url}/to-do.html`, { javaScriptEnabled });
      await page.getByText("Nothing left to do. Go outside.").waitFor();
      expect(await page.getByPlaceholder("Think of something").count()).toBe(javaScriptEnabled ? 1 : 0);
    }
  });

  const smallTargetsOf = (page: Page): Promise<string[]> =>
    page.locator("button, input, textarea, nav a").evaluateAll((targets) =>
      targets
        .map((target) => [target.outerHTML.slice(0, 80), target.getBoundingClientRect()] as const)
        .filter(([, { width, height }]) => width > 0 && Math.min(width, height) < 24)
        .map(([html]) => html),
    );

  const looks = sample(
    ["", "guest-book.html", "to-do.html", "tea-room.html"].flatMap((name, index) =>
      (["light", "dark"] as const).flatMap((colorScheme) =>
        [1280, 390].map((width) => ({ name, colorScheme, width, order: index })),
      ),
    ),
    16,
  );

  it.each(looks)("are accessible by the rules of axe: /$name, $colorScheme, $width wide", async (look) => {
    const { url } = await exampleSite();
    const viewport = { width: look.width, height: 900 };
    const { page } = await live(`${url}/${look.name}`, { viewport, colorScheme: look.colorScheme });
    if (look.name === "") {
      await page.getByRole("button", { name: "DELETE [data-price='0.00']" }).click();
      await page.keyboard.press("Enter");
      await page.locator(".playground .wire").waitFor();
    }
    expect(await violationsIn(page)).toEqual([]);
  });

  const others = ["config", "scale-out/site", "agents/site"].flatMap((folder) =>
    readdirSync(join(projectRoot, "examples", folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".html"))
      .map((name) => `${folder}/${name}`),
  );

  it.each(sample(others, 4))("have nothing that axe finds, in both colour schemes: /%s", async (path) => {
    const { url } = await serve({ root: join(projectRoot, "examples") });
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await browser.open(`${url}/${path}`, { ...phone, colorScheme });
      expect(await violationsIn(page)).toEqual([]);
    }
  });
});
