import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { rolldown } from "rolldown";
import { beforeAll, onTestFinished } from "vitest";
import { pageTimeout, sharedChromium } from "../helpers/chromium.ts";
import { projectRoot } from "../helpers/source-files.ts";

/** A browser for the tests of a file. */
export interface Windows {
  /** Opens a window with a profile of its own, until the test is over. */
  open(url: string, options?: BrowserContextOptions): Promise<Window>;
}

/** A window, and what has gone wrong in it: messages of the console, and errors that nobody caught. */
export interface Window {
  readonly page: Page;
  readonly problems: string[];
}

/** Windows that are not in use: a new one costs three times the processor time of opening another address in an old one. */
const unused: Page[] = [];

/** Has Chromium ready before the tests of a file. */
export function windows(): Windows {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedChromium();
  });

  const newPage = async (options?: BrowserContextOptions): Promise<Page> => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(pageTimeout);
    return context.newPage();
  };

  return {
    async open(url, options) {
      const page = (options ? undefined : unused.pop()) ?? (await newPage(options));
      onTestFinished(() => (options ? page.context().close() : putAside(page)));
      const problems: string[] = [];
      page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(url);
      return { page, problems };
    },
  };
}

/** What a page keeps lies under its address, which has a port that no other test has; cookies have none. */
async function putAside(page: Page): Promise<void> {
  page.removeAllListeners();
  await page.context().clearCookies();
  await page.goto("about:blank");
  unused.push(page);
}

const bundles = new Map<string, Promise<string>>();

/** A module of `src/client` as one JavaScript module, with what it imports; made once for all tests of a worker. */
export function bundled(name: string): Promise<string> {
  const made = bundles.get(name) ?? bundle(name);
  bundles.set(name, made);
  return made;
}

async function bundle(name: string): Promise<string> {
  const modules = await rolldown({ input: `${projectRoot}/src/client/${name}.ts` });
  const { output } = await modules.generate({ format: "esm" });
  return output[0].code;
}
