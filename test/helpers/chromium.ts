import type { Browser } from "playwright-core";
import { programPath } from "./needs.ts";

/** In milliseconds, just before the test would end as hanging: no machine is too slow for a page. */
export const pageTimeout = 100_000;

let browser: Promise<Browser> | undefined;

/** Chromium, for tests tagged `chromium`. It ends with its worker; tests close what they open in it. */
export function sharedChromium(): Promise<Browser> {
  browser ??= launch();
  return browser;
}

async function launch(): Promise<Browser> {
  const executablePath = programPath("chromium");
  if (executablePath === undefined) throw new Error('Chromium is not installed: the test needs { tags: ["chromium"] }');
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"];
  args.push("--disable-background-networking", "--disable-component-update");
  const { chromium } = await import("playwright-core"); // takes a second, also of those who have no browser
  const launched = await chromium.launch({ executablePath, args, timeout: pageTimeout });
  return launched.on("disconnected", () => {
    browser = undefined;
  });
}
