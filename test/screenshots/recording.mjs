/**
 * `npm run recording`: twenty seconds of the home page as `docs/pictures/playground.webp`, for the README, played once, and
 * one moment of it as `playground-still.webp`, for readers who want no motion. The frames are pictures of the real page,
 * each held as long as one needs to read it. Needs `img2webp` (Debian: apt-get install webp).
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { launch, programPath, projectRoot, startServer, visit } from "./chromium.mjs";

const img2webp = programPath("img2webp");
const frames = await mkdtemp(join(tmpdir(), "filement-frames-"));
const pictures = join(projectRoot, "docs/pictures");
const site = await startServer("examples/site/start.mjs");
const browser = await launch();
/** @type {string[]} */
const film = [];
/** @type {readonly string[]} */
let still = [];

try {
  const page = await browser.newPage({ viewport: { width: 1120, height: 720 }, colorScheme: "light" });
  await visit(page, `${site.url}/`);

  /** @param {number} ms how long the frame stays */
  const frame = async (ms) => {
    const path = join(frames, `${film.length}.png`);
    await page.screenshot({ path, animations: "disabled" });
    film.push("-d", String(ms), path);
  };
  /** @param {string} selector */
  const scrollTo = (selector) => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView()`);

  await frame(1600);
  await scrollTo("#play");
  await frame(900);
  const field = page.getByLabel("Selector");
  await field.fill("");
  for (const part of ["#m", "#menu", "#menu li", "#menu li:has", "#menu li:has(em)"]) {
    await field.fill(part);
    await frame(part.endsWith(")") ? 1500 : 350);
  }
  for (const request of ["POST #menu", "PUT h1", "DELETE [data-price='0.00']"]) {
    await page.getByRole("button", { name: request, exact: true }).click();
    await frame(1100);
    const before = await page.locator(".playground .diff").textContent();
    await page.keyboard.press("Enter");
    await page.waitForFunction((text) => document.querySelector(".playground .diff")?.textContent !== text, before);
    await page.frameLocator(".playground iframe").locator(".news.shown").waitFor();
    await frame(2200);
    if (request === "POST #menu") still = film.slice(-3);
  }
  await scrollTo("#windows");
  const [one, other] = [0, 1].map((index) => page.frameLocator(".windows iframe").nth(index));
  await other?.getByRole("checkbox", { name: "Repair the kite" }).waitFor();
  await frame(1200);
  await one?.getByRole("checkbox", { name: "Repair the kite" }).check();
  await other?.locator("#kite.done").waitFor();
  await frame(2000);
  await mkdir(pictures, { recursive: true });
  /** @param {string} name @param {readonly string[]} shown */
  const write = async (name, shown) => {
    const output = join(pictures, name);
    await promisify(execFile)(img2webp, ["-loop", "1", "-lossy", "-q", "60", "-m", "6", ...shown, "-o", output]);
    console.log(output);
  };
  await write("playground.webp", film);
  await write("playground-still.webp", still);
} finally {
  await browser.close();
  await site.stop();
  await rm(frames, { recursive: true });
}
