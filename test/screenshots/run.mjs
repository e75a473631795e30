/**
 * `npm run screenshots`: every page that people see, at 1280 and 390 pixels, light and dark, as PNG in a folder to look at.
 * `-- --out FOLDER` says where.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch, projectRoot, startServer, visit } from "./chromium.mjs";

const { values } = parseArgs({ options: { out: { type: "string", default: join(projectRoot, "screenshots") } } });
await mkdir(values.out, { recursive: true });

const folder = await mkdtemp(join(tmpdir(), "filement-listing-"));
await cp(join(projectRoot, "examples/site"), join(folder, "site"), { recursive: true });
await cp(join(projectRoot, "docs"), join(folder, "docs"), { recursive: true });
await writeFile(join(folder, "README.md"), "# A folder\n\nWhat is in it, said **below** the listing.\n");

const [site, listing] = [
  await startServer("examples/site/start.mjs"),
  await startServer("dist/cli.js", folder, "--port", "0"),
];
const browser = await launch();

/** @param {string} name of a button that opens a dialog */
const opening = (name) => async (/** @type {Page} */ page) => {
  await page.getByRole("button", { name }).click();
  await page.getByRole("dialog").waitFor();
};

/** @param {Page} page that is touched with fingers: `isMobile` alone leaves it a mouse */
async function haveNoMouse(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setEmulatedMedia", { features: [{ name: "hover", value: "none" }] });
}

/** @typedef {import("playwright-core").Page} Page */
/** @type {Record<string, { url: string, act?: (page: Page) => Promise<void> }>} */
const pages = {
  home: { url: `${site.url}/` },
  playground: {
    url: `${site.url}/`,
    async act(page) {
      await page.getByRole("button", { name: "POST #menu", exact: true }).click();
      await page.keyboard.press("Enter");
      await page.locator(".playground .diff ins").waitFor();
    },
  },
  "guest-book": { url: `${site.url}/guest-book.html` },
  "to-do": { url: `${site.url}/to-do.html` },
  "tea-room": { url: `${site.url}/tea-room.html` },
  listing: { url: `${listing.url}/` },
  "listing-of-documents": { url: `${listing.url}/docs/` },
  preview: {
    url: `${listing.url}/docs/`,
    act: opening("View quick-start.md"),
  },
  editor: { url: `${listing.url}/`, act: opening("Edit README.md") },
  "not-found": { url: `${site.url}/notes/none.html` },
};

try {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    for (const width of [1280, 390]) {
      const isPhone = width < 500;
      const screen = { viewport: { width, height: 900 }, hasTouch: isPhone, isMobile: isPhone };
      const context = await browser.newContext({ colorScheme, ...screen });
      for (const [name, { url, act }] of Object.entries(pages)) {
        const page = await context.newPage();
        if (isPhone) await haveNoMouse(page);
        await visit(page, url);
        await act?.(page);
        const isDialog = (await page.locator("dialog").count()) > 0;
        const path = join(values.out, `${name}-${width}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: !isDialog, animations: "disabled" });
        await page.close();
      }
      await context.close();
    }
  }
  console.log(`${Object.keys(pages).length * 4} pictures in ${values.out}`);
} finally {
  await browser.close();
  await Promise.all([site.stop(), listing.stop()]);
  await rm(folder, { recursive: true });
}
