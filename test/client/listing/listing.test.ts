import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { violationsIn } from "../../helpers/axe.ts";
import { sample, timesOf } from "../../helpers/effort.ts";
import { namesIn } from "../../helpers/unzip.ts";
import { windows } from "../chromium.ts";
import { folders, serveFolder } from "./folder.ts";

/** What the page of a test has in its window: how often a row was shown or hidden. */
declare global {
  var touched: number;
}

/** Runs in the page: how many nodes it has. */
function countNodes(): number {
  const walker = document.createTreeWalker(document);
  let count = 0;
  while (walker.nextNode()) count += 1;
  return count;
}

/** Runs in the page: the buttons of the row in the middle of the view. */
function buttonsInView(): string[] {
  const { left } = (document.querySelector("main > table") as Element).getBoundingClientRect();
  const row = document.elementFromPoint(left + 20, innerHeight / 2)?.closest("tr");
  return [...(row?.querySelectorAll("button") ?? [])].map(({ textContent }) => textContent);
}

describe("a listing in a browser", { tags: ["chromium"] }, () => {
  const open = folders();
  const browser = windows();
  const files = {
    "/docs/a.txt": "",
    "/README.md": "# Read me\n\nText with [a link](docs/).",
    "/song.mp3": "",
    "/paper.pdf": "",
  };

  it("shows times where the reader is, and the exact one in UTC on hover", async () => {
    const { page } = await open(files, {}, "/", { timezoneId: "Asia/Kolkata" });
    const time = page.locator("main time").first();
    const exact = new Date((await time.getAttribute("datetime")) ?? "");
    const there = new Date(exact.getTime() + 5.5 * 3_600_000).toISOString();
    expect(await time.textContent()).toBe(`${there.slice(0, 10)} ${there.slice(11, 16)}`);
    expect(await time.getAttribute("title")).toBe(exact.toUTCString());
    expect(await page.locator("thead").textContent()).not.toContain("UTC");
  });

  it("lays out only what is in view of thousands of entries, and touches only the rows that a filter changes", async () => {
    const count = timesOf(1_000, 10_000);
    const names = Array.from({ length: count }, (_, index) => `file-${index}.txt`);
    const { page, names: namesShown } = await open(Object.fromEntries(names.map((name) => [`/${name}`, ""])));
    const rows = Math.min(5_000, count);
    expect(await page.locator("main tbody tr").count()).toBe(rows);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const laidOut = async (): Promise<number> => {
      await page.evaluate(() => new Promise(requestAnimationFrame));
      const { metrics } = await session.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "LayoutObjects")?.value ?? Number.NaN;
    };
    const [mostLaidOut, mostNodes] = [15_000, 11 * rows + 5_000]; // all rows with buttons would have 24 of both, each
    await expect.poll(laidOut).toBeLessThan(mostLaidOut);
    for (const part of [0.25, 0.5, 0.75, 1]) {
      await page.evaluate((at) => scrollTo(0, at * document.body.scrollHeight), part);
      await expect.poll(() => page.evaluate(buttonsInView)).toEqual(["View", "Edit", "Move", "Delete"]);
      await expect.poll(laidOut).toBeLessThan(mostLaidOut);
      await expect.poll(() => page.evaluate(countNodes)).toBeLessThan(mostNodes);
    }

    await page.evaluate(() => {
      globalThis.touched = 0;
      new MutationObserver((mutations) => {
        globalThis.touched += mutations.filter(({ target }) => target.nodeName === "TR").length;
      }).observe(document.body, { subtree: true, attributeFilter: ["hidden"] });
    });
    const touched = (): Promise<number> => page.evaluate(() => globalThis.touched);
    await page.getByLabel("Filter by name").pressSequentially("file-77");
    const wanted = names.slice(0, rows).filter((name) => name.includes("file-77"));
    await expect.poll(namesShown).toEqual(wanted);
    const height = (): Promise<number> => page.locator("main > table").evaluate(({ clientHeight }) => clientHeight);
    await expect.poll(height).toBeLessThan(45 * (wanted.length + 5)); // nothing stays where rows are hidden
    expect(await touched()).toBe(rows - wanted.length); // each once, not once for each key
    await page.keyboard.press("Escape");
    await expect.poll(touched).toBe(2 * (rows - wanted.length));
    await expect.poll(laidOut).toBeLessThan(mostLaidOut);
    expect(await page.getByRole("link", { name: "Next page" }).count()).toBe(count > rows ? 2 : 0);
  });

  it("shows what controls the direction of text in names wherever it names a file", {
    tags: ["campaign"],
  }, async () => {
    const name = "photo-\u202egpj.txt";
    const { page } = await open({ [`/${name}`]: "text" });
    await page.getByRole("button", { name: "View photo-[U+202E]gpj.txt" }).click();
    await page.getByRole("heading", { name: "photo-[U+202E]gpj.txt" }).waitFor();
    await page.keyboard.press("Escape");
    const buffer = Buffer.from("more");
    await page.locator("input[type=file]").first().setInputFiles({ name, mimeType: "text/plain", buffer });
    await page.locator(".uploads li").waitFor();
    expect(await page.content()).not.toMatch(/\p{Bidi_Control}/u);
  });

  it("has room for what the module adds before that is there", async () => {
    const { page } = await open({ "/a.txt": "", "/b/c": "" }, { listing: { edit: true } });
    const boxes = (): Promise<unknown> =>
      page.locator("main tr, main :is(th, td:not(.acts))").evaluateAll((all) => {
        const rectangles = all.map((each) => each.getBoundingClientRect());
        // On a phone, buttons that add files take lines of their own above.
        return rectangles.map(({ left, top, height }) => [left, height, innerWidth > 500 && top]);
      });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.route("**/listing.js", (route) => route.abort());
      await page.reload();
      const before = await boxes();
      await page.unroute("**/listing.js");
      await page.reload();
      await page.locator(".acts button").first().waitFor();
      expect(await boxes()).toEqual(before);
    }
  });

  it("downloads the folder as a .zip, by keyboard, and without JavaScript, where it has links alone", async () => {
    const { url } = await serveFolder(files, { listing: { edit: true, zip: true } });
    for (const javaScriptEnabled of [true, false]) {
      const { page, problems } = await browser.open(`${url}/docs/`, { javaScriptEnabled });
      const link = page.getByRole("link", { name: "Download as .zip" });
      expect((await page.locator("button").count()) > 0).toBe(javaScriptEnabled);
      await link.focus();
      const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
      expect(download.suggestedFilename()).toBe("docs.zip");
      expect(await namesIn(await readFile(await download.path()))).toEqual(["docs/", "docs/a.txt"]);
      expect(problems).toEqual([]);
    }
  });

  it("has rows that a finger hits, on a phone, and stays accessible in forced colours", async () => {
    const look = { viewport: { width: 390, height: 844 }, forcedColors: "active" } as const;
    const { page } = await open(files, { listing: { edit: true } }, "/", look);
    const row = page.locator("main > table tbody tr").nth(3);
    expect((await row.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    expect(await violationsIn(page)).toEqual([]);
  });

  it.each(sample(["light", "dark"] as const, 2))("is accessible by the rules of axe, %s", async (colorScheme) => {
    const look = { colorScheme, viewport: { width: 390, height: 844 } };
    const { url, page, problems } = await open(files, { listing: { edit: true, zip: true } }, "/", look);
    await page.locator(".readme").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole("button", { name: "Edit README.md" }).click();
    await page.getByLabel("Content").waitFor();
    expect(await violationsIn(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(problems).toEqual([]);
    await page.goto(`${url}/docs/none.txt`);
    expect(await violationsIn(page)).toEqual([]);
  });
});
