import type { Page } from "playwright-core";
import { pageTimeout, sharedChromium } from "../helpers/chromium.ts";
import type { Selected } from "./selected.ts";

/** A page in Chromium. */
export interface BrowserPage {
  /** The names of all elements in document order. */
  names(): Promise<string[]>;
  select(selectors: readonly string[]): Promise<Selected[]>;
}

/** Chromium without a network: a page is what is put into it, and nothing that it asks for is there. */
export class OfflineChromium {
  readonly #page: Page;
  #bytes: Buffer = Buffer.alloc(0);

  private constructor(page: Page) {
    this.#page = page;
  }

  static async launch(): Promise<OfflineChromium> {
    const browser = await sharedChromium();
    const page = await browser.newPage();
    page.setDefaultTimeout(pageTimeout);
    const offline = new OfflineChromium(page);
    await page.route("**", (route) => {
      if (route.request().url() !== "http://page.test/" || !route.request().isNavigationRequest()) return route.abort();
      // The page's scripts do not run, and yet scripting counts as enabled, so that `noscript` holds text as it does
      // for every visitor. In a sandbox, or with JavaScript switched off, its content would be elements.
      const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": "script-src 'none'" };
      return route.fulfill({ body: offline.#bytes, headers });
    });
    return offline;
  }

  async open(bytes: Buffer): Promise<BrowserPage> {
    this.#bytes = bytes;
    await this.#page.goto("http://page.test/", { waitUntil: "domcontentloaded" });
    return {
      names: () => this.#page.evaluate(() => [...document.querySelectorAll("*")].map(({ localName }) => localName)),
      select: (selectors) => this.#page.evaluate(selectAll, selectors),
    };
  }

  close(): Promise<void> {
    return this.#page.close();
  }
}

/** Runs in the browser. */
function selectAll(selectors: readonly string[]): Selected[] {
  const numbers = new Map([...document.querySelectorAll("*")].map((element, index) => [element, index]));
  return selectors.map((selector) => {
    try {
      return [...document.querySelectorAll(selector)].map((element) => numbers.get(element) ?? -1);
    } catch (error) {
      if (error instanceof DOMException && error.name === "SyntaxError") return "refused";
      throw error;
    }
  });
}
