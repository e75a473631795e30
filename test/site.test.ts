import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiReference } from "../.ci/api-reference.mjs";
import { deadLinks } from "../.ci/site/dead-links.mjs";
import { outlineOf } from "./helpers/accessibility.ts";
import { violationsIn } from "./helpers/axe.ts";
import { sharedChromium } from "./helpers/chromium.ts";
import { type RunningNode, runNode } from "./helpers/run-node.ts";
import { filesBelow } from "./helpers/source-files.ts";
import { temporaryDirectory } from "./helpers/temporary-directory.ts";

const pages = [
  "/",
  "/CHANGELOG",
  "/nowhere",
  ...[...filesBelow("docs", ".md").map((file) => `docs/${file}`), ...apiReference().keys()].map((file) =>
    `/${file.slice(0, -3)}`.replace(/\/index$/, "/"),
  ),
];

describe("npm run docs", { tags: ["minutes", "site"] }, () => {
  let server: RunningNode;
  let site = "";

  beforeAll(async () => {
    server = runNode([".ci/site/start.mjs"], { env: { PORT: "0" }, isShared: true });
    [, site = ""] = await server.waitFor(/^(http:\S+)\/$/m);
  });

  afterAll(() => server.kill("SIGTERM"));

  it("builds the pages, all of whose links lead somewhere, and serves them", { tags: ["campaign"] }, async () => {
    const answers = pages.map(async (page) => `${page} ${(await fetch(`${site}${page}`)).status}`);
    expect(await Promise.all(answers)).toEqual(pages.map((page) => `${page} ${page === "/nowhere" ? 404 : 200}`));
  });

  it("serves the examples that pages link to, and lets nobody write", { tags: ["campaign"] }, async () => {
    expect((await fetch(`${site}/examples/express.mjs`)).status).toBe(200);
    expect((await fetch(`${site}/index.html`, { method: "PUT", body: "mine" })).status).toBe(405);
  });

  it("tells screen readers where things are, and calls headings by their text", { tags: ["chromium"] }, async () => {
    const browser = await sharedChromium();
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${site}/docs/listings`);
    await page.locator('.VPSwitchAppearance[title^="Switch"]').first().waitFor({ state: "attached" });
    const outline = (await outlineOf(page)).map((line) => line.trim());
    await page.close();
    expect(outline[0]).toBe('link "Skip to content"');
    expect(outline.filter((line) => /^(?:banner|navigation|main|contentinfo)/.test(line))).toEqual([
      "banner",
      'navigation "Main Navigation"',
      'navigation "Sidebar Navigation"',
      'navigation "On this page"',
      "main",
      "contentinfo",
      'navigation "Pager"',
    ]);
    const headings = outline.slice(outline.indexOf("main")).filter((line) => line.startsWith("heading"));
    expect(headings.slice(0, 2)).toEqual(['heading "Listings", 1', 'heading "In a browser", 2']);
    expect(headings.filter((heading) => /Permalink|, 1$/.test(heading))).toHaveLength(1);
  });

  it.each(pages)("serves %s so that axe finds nothing, in light and in dark", { tags: ["chromium"] }, async (path) => {
    const browser = await sharedChromium();
    const page = await browser.newPage({ reducedMotion: "reduce" });
    await page.goto(`${site}${path}`);
    // What a script adds: the main part of the page of a 404, and what the switch does.
    await page.locator("main").first().waitFor({ state: "attached" });
    await page.locator('.VPSwitchAppearance[title^="Switch"]').first().waitFor({ state: "attached" });
    const found: Record<string, string[]> = {};
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(colorScheme === "dark" ? "html.dark" : "html:not(.dark)").waitFor({ state: "attached" });
      found[colorScheme] = await violationsIn(page);
    }
    await page.close();
    expect(found).toEqual({ light: [], dark: [] });
  });
});

describe("the check of the links", () => {
  it("finds those to no page, no file and no place on a page, and asks no other site", async () => {
    const site = await temporaryDirectory();
    await mkdir(join(site, "docs/files"), { recursive: true });
    const page = (...links: readonly string[]): string => links.map((link) => `<a id=top href="${link}">`).join("");
    await writeFile(
      join(site, "index.html"),
      `${page("/docs/a", "docs/a#top", "/docs/files/", "https://example.com/")}`,
    );
    await writeFile(
      join(site, "docs/a.html"),
      `${page("/", "../#top", "b", "#bottom", "/#none", "x.js")}<img src=y.svg>`,
    );
    await mkdir(join(site, "copied"));
    await writeFile(join(site, "copied/c.html"), page("/nothing"));
    const dead = ["b", "#bottom", "/#none", "x.js", "y.svg"].map((link) => `docs/a.html: ${link}`);
    expect(deadLinks(site, ["copied"])).toEqual(dead);
  });
});
