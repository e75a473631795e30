import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { rolldown } from "rolldown";
import { beforeAll, onTestFinished } from "vitest";
import { pageTimeout, sharedChromium } from "../helpers/chromium.ts";
import { projectRoot } from "../helpers/source-files.ts";

/** A browser for the tests of a file. */
export interface Windows {
  /** Opens a window with a profile of its own, closed when the test is over. */
  open(url: string, options?: BrowserContextOptions): Promise<Window>;
}

/** A window, and what has gone wrong in it: messages of the console, and errors that nobody caught. */
export interface Window {
  readonly page: Page;
  readonly problems: string[];
}

/** Has Chromium ready before the tests of a file. */
export function windows(): Windows {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedChromium();
  });
  return {
    async open(url, options) {
      const context = await browser.newContext(options);
      onTestFinished(() => context.close());
      context.setDefaultTimeout(pageTimeout);
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(url);
      return { page, problems };
    },
  };
}

/** A module of `src/client` as one JavaScript module, with what it imports. */
export async function bundled(name: string): Promise<string> {
  const bundle = await rolldown({ input: `${projectRoot}/src/client/${name}.ts` });
  const { output } = await bundle.generate({ format: "esm" });
  return output[0].code;
}
