import { build } from "esbuild";
import type { BrowserContextOptions, Page } from "playwright-core";
import { onTestFinished } from "vitest";
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

/** Windows that are not in use: a new one costs three times as much as another address in an old one. */
const unused: Page[] = [];

async function newPage(options?: BrowserContextOptions): Promise<Page> {
  const context = await (await sharedChromium()).newContext(options);
  context.setDefaultTimeout(pageTimeout);
  return context.newPage();
}

export function windows(): Windows {
  return {
    async open(url, options) {
      const kept = options ? undefined : unused.pop();
      const page = kept?.context().browser()?.isConnected() ? kept : await newPage(options);
      onTestFinished(() => (options ? page.context().close() : putAside(page)));
      const problems: string[] = [];
      page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
      page.on("pageerror", (error) => problems.push(String(error)));
      await page.goto(url);
      return { page, problems };
    },
  };
}

/** What a page keeps lies under its address, which has a port that no other test has; cookies and its size do not. */
async function putAside(page: Page): Promise<void> {
  page.removeAllListeners();
  await page.context().clearCookies();
  await page.setViewportSize({ width: 1280, height: 720 });
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
  const entryPoints = [`${projectRoot}/src/client/${name}.ts`];
  const { outputFiles } = await build({ entryPoints, bundle: true, format: "esm", write: false });
  return outputFiles[0]?.text ?? "";
}
