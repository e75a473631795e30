import type { BrowserContextOptions } from "playwright-core";
import type { FileServerConfig } from "../../../src/config.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { type Answer, type Sending, send } from "../../helpers/send.ts";
import { type Served, serve } from "../../helpers/serve.ts";
import { type Window, windows } from "../chromium.ts";

/** A folder that is open in a browser. */
export interface OpenFolder extends Served, Window {
  /** The names in the listing, as far as they are shown. */
  names(): Promise<string[]>;
  /** Sends a request past the browser. */
  ask(method: string, path: string, sending?: Sending): Promise<Answer>;
}

/** Serves a folder whose listing one may edit, unless `config` says otherwise. */
export function serveFolder(files: Record<string, string>, config: FileServerConfig = {}): Promise<Served> {
  const storage = memoryStorage(files);
  return serve({ storage, listing: { edit: true }, ...config });
}

/** Opens listings in a browser, for the tests of a file. */
export function folders(): (
  files: Record<string, string>,
  config?: FileServerConfig,
  path?: string,
  options?: BrowserContextOptions,
) => Promise<OpenFolder> {
  const browser = windows();
  return async (files, config = {}, path = "/", options = undefined) => {
    const served = await serveFolder(files, config);
    const window = await browser.open(served.url + path, options);
    await window.page.locator(".note").waitFor({ state: "attached" });
    const names = (): Promise<string[]> =>
      window.page
        .locator("main > table > tbody a")
        .evaluateAll((links) => links.filter((link) => link.checkVisibility()).map(({ textContent }) => textContent));
    return { ...served, ...window, names, ask: (...request) => send(served.url, ...request) };
  };
}
