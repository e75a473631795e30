import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { pageTimeout, sharedChromium } from "../helpers/chromium.ts";
import { serve } from "../helpers/serve.ts";
import { temporaryDirectory } from "../helpers/temporary-directory.ts";

const run = promisify(execFile);
const account = { username: "ada", password: "notes" };

/** What the page of a wiki offers to scripts. */
interface TiddlyWiki {
  readonly wiki: { addTiddler(tiddler: { readonly title: string; readonly text: string }): void };
  readonly rootWidget: { dispatchEvent(event: { readonly type: string }): void };
}

/** Serves a directory with `wiki.html`, an empty wiki as one gets it from tiddlywiki.com, as docs/moving.md has it. */
async function wikiSite(config: FileServerConfig = {}): Promise<{ url: string; file: string }> {
  const folder = await temporaryDirectory();
  const root = await temporaryDirectory();
  await run("tiddlywiki", [folder, "--init", "empty"]);
  await run("tiddlywiki", [folder, "--output", root, "--render", "$:/core/save/all", "wiki.html", "text/plain"]);
  const plugins = [basicAuth({ users: [{ ...account, encryption: "plaintext" }] })];
  const { url } = await serve({ root, dav: "1", plugins, ...config });
  return { url: `${url}/wiki.html`, file: join(root, "wiki.html") };
}

/** Opens the wiki in a browser of its own, signed in; its saver has asked what it wants to know. */
async function openWiki(url: string): Promise<Page> {
  const httpCredentials = { username: account.username, password: account.password };
  const context = await (await sharedChromium()).newContext({ httpCredentials });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(pageTimeout);
  const asked = ["OPTIONS", "HEAD"].map((method) =>
    page.waitForResponse((response) => response.request().method() === method && response.url() === url),
  );
  await page.goto(url);
  for (const response of await Promise.all(asked)) await response.finished();
  return page;
}

/** Adds a note and saves the wiki, as its button does; the status of the PUT. */
async function save(page: Page, title: string): Promise<number> {
  const put = page.waitForResponse((response) => response.request().method() === "PUT");
  await page.evaluate((name) => {
    const { $tw } = globalThis as unknown as { $tw: TiddlyWiki };
    $tw.wiki.addTiddler({ title: name, text: `the text of ${name}` });
    $tw.rootWidget.dispatchEvent({ type: "tm-save-wiki" });
  }, title);
  const response = await put;
  await response.finished();
  return response.status();
}

describe("TiddlyWiki in a browser", { tags: ["campaign", "chromium", "tiddlywiki"] }, () => {
  it.each([
    ["plain", {}],
    ["compressed", { compress: true }],
  ])("saves itself again and again, and is told when somebody else has: %s", async (_how, config) => {
    const { url, file } = await wikiSite(config);
    const [mine, theirs] = [await openWiki(url), await openWiki(url)];
    expect(await save(mine, "First note")).toBe(200);
    expect(await save(mine, "Second note")).toBe(200);
    const saved = await readFile(file, "utf8");
    expect(saved).toContain("the text of First note");
    expect(saved).toContain("the text of Second note");

    const conflict = theirs.waitForEvent("dialog");
    const late = save(theirs, "Late note");
    const dialog = await conflict;
    expect(dialog.message()).toContain("File changed on server");
    await dialog.dismiss();
    expect(await late).toBe(412);
    expect(await readFile(file, "utf8")).toBe(saved);

    const again = await openWiki(url);
    expect(await save(again, "Late note")).toBe(200);
    expect(await readFile(file, "utf8")).toContain("the text of Second note");
  });
});
