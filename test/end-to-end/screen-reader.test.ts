// What people get who listen to a page: its outline as screen readers get it from Chromium, and live regions.
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { windows } from "../client/chromium.ts";
import { folders } from "../client/listing/folder.ts";
import { listenTo, outlineOf } from "../helpers/accessibility.ts";
import { violationsIn } from "../helpers/axe.ts";
import { cableTo } from "../helpers/cable.ts";
import { sample } from "../helpers/effort.ts";
import { exampleSite } from "../helpers/example-site.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";

const siteNavigation = `banner
  link "Filement"
  navigation "Site"
    list
      link "Home"
      link "Guest book"
      link "To do"
      link "Board"
      link "Notes"
`;
/** Run and Copy at a curl line, and the place of the reply. */
const buttonsOf = (step: string): string => `button "Run: ${step}"
button "Copy: ${step}"
status`;
const stepOf = (step: string): string => indented(`heading "${step}", 3\n${buttonsOf(step)}`, 4);
const itemOf = (text: string, state: string): string =>
  indented(`checkbox "${text}", ${state}\nbutton "Edit “${text}”"\nbutton "Delete “${text}”"`, 4);

/** The pages of the example site, by name. The last status of each has what others do. */
const examplePages: Record<string, string> = {
  "": `${siteNavigation}main
  heading "Every element has an address.", 1
  status
  image "A page of text. One item of a list in it is marked, and lies beside the page as a slip of paper."
  heading "Play with it", 2
  region "Play with it"
    form
      textbox "Selector"
      button "GET #menu li:has(em)"
      button "POST #menu"
      button "PUT h1"
      button "PUT #note em"
      button "DELETE [data-price='0.00']"
      status
      textbox "Content, for PUT and POST"
      button "GET"
      button "PUT"
      button "POST"
      button "DELETE"
      button "Put the page back"
      status
    Iframe "The page that you change"
  heading "From a terminal", 2
  list
${stepOf("GET Read the news")}
${stepOf("PUT Replace the headline")}
${stepOf("POST Append to the list")}
${stepOf("DELETE Remove it again")}
  heading "Two windows", 2
  Iframe "The to-do list, first window"
  Iframe "The to-do list, second window"
  heading "Get it", 2
  link "decide who may"
  list
    link "Quick start"
    link "In Express, Fastify, Koa and Hono"
    link "Live pages"
    link "Selectors"
    link "All of the documentation"
  heading "News", 2
  list
contentinfo
status`,
  "to-do.html": `${siteNavigation}main
  heading "To do", 1
  status
  list
${itemOf("Buy bread", "checked")}
${itemOf("Repair the kite", "not checked")}
${itemOf("Answer the letter from the lighthouse", "checked")}
${itemOf("Plant tomatoes", "not checked")}
${itemOf("Learn one new selector", "not checked")}
  form
    textbox "New item", required
    button "Add"
  heading "Work on it", 2
  list
${stepOf("POST Think of something")}
${stepOf("PUT Get it done")}
${stepOf("DELETE Clear what is done")}
contentinfo
status`,
  "tea-room.html": `banner
  link "Filement"
main
  heading "The lighthouse tea room", 1
  status
  heading "Today", 2
  list
status`,
};

const columnHeaders = indented(
  'columnheader "Name"\n  link "Name"\ncolumnheader "Size"\n  link "Size"\ncolumnheader "Modified"\n  link "Modified"',
  4,
);

const listingToEdit = `banner
  navigation "Folders above"
    list
      link "Home"
  heading "docs", 1
  search
    searchbox "Filter by name; Enter searches the folders below as well"
  button "Upload files"
  button "Upload a folder"
  button "New file"
  button "New folder"
  status
main
  table "1 folder and 2 files"
${columnHeaders}
    rowheader "deep/"
      link "deep/"
    button "Move deep"
    button "Delete deep"
    checkbox "Select deep", not checked
    rowheader "a.bin"
      link "a.bin"
    button "Move a.bin"
    button "Delete a.bin"
    checkbox "Select a.bin", not checked
    rowheader "README.md"
      link "README.md"
    button "View README.md"
    button "Edit README.md"
    button "Move README.md"
    button "Delete README.md"
    checkbox "Select README.md", not checked
    rowheader "Together"
  heading "README.md", 2
  heading "Read me", 3`;

/** How a page comes to be an error: the configuration, the path that is opened, and what the request has besides. */
const errors: Array<[title: string, config: FileServerConfig, path: string, headers?: Record<string, string>]> = [
  ["400 Bad Request", {}, "/docs/page.html", { range: "selector=p >" }],
  ["401 Unauthorized", { plugins: [basicAuth({ users: () => undefined })] }, "/docs/page.html"],
  ["403 Forbidden", { listing: false }, "/docs/deep/"],
  ["404 Not Found", {}, "/docs/none.html"],
  ["412 Precondition Failed", {}, "/docs/page.html", { "if-match": '"another"' }],
  ["503 Service Unavailable", { maintenance: true }, "/docs/page.html"],
];

describe("a screen reader", { tags: ["chromium"] }, () => {
  const browser = windows();
  const open = folders();
  const docs = { "/docs/README.md": "# Read me", "/docs/a.bin": "", "/docs/deep/page.html": "<p>Page" };

  /** The outline of a page as one text, as the tables above have it. */
  const heardOf = async (page: Page): Promise<string> => (await outlineOf(page)).join("\n");

  it.each(sample(Object.keys(examplePages), 3))("finds its way in the example page /%s", async (name) => {
    const { url } = await exampleSite();
    const { page } = await browser.open(`${url}/${name}`);
    await page.locator(".connection.live").waitFor();
    await expect.poll(() => heardOf(page)).toBe(examplePages[name]);
    const current = await page.locator("[aria-current]").allTextContents();
    expect(current).toEqual(name === "tea-room.html" ? [] : [expect.any(String)]);
  });

  it("finds its way in a listing that one may edit", async () => {
    const { page } = await open(docs, { listing: { edit: true } }, "/docs/");
    await page.locator(".readme").waitFor();
    expect(await heardOf(page)).toBe(listingToEdit);
    expect(await page.locator("[aria-sort]").getAttribute("aria-sort")).toBe("ascending");
  });

  it("is told by a dialog what it is about, where the text goes, and how to leave", async () => {
    const { page, ask } = await open(docs, {}, "/docs/");
    await page.getByRole("button", { name: "View README.md" }).click();
    await page.getByRole("link", { name: "Open the file" }).waitFor();
    expect(await heardOf(page)).toBe(`dialog "README.md", modal
  heading "README.md", 2, focused
  heading "Read me", 3
  list
    button "Close"
    link "Open the file"`);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Edit README.md" }).click();
    await page.getByLabel("Content").fill("Mine");
    expect(await heardOf(page)).toBe(`dialog "README.md", modal
  heading "README.md", 2
  textbox "Content", focused
  alert
  list
    button "Save"
    button "Cancel"`);
    await ask("PUT", "/docs/README.md", { body: "Theirs" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("textbox", { name: "Theirs" }).waitFor();
    expect(await heardOf(page)).toBe(`dialog "README.md", modal
  heading "README.md", 2
  textbox "Content"
  textbox "Theirs", read-only
  alert
  list
    button "Save", focused
    button "Cancel"`);
  });

  it.each(sample(errors, 6))("hears what is wrong: %s", async (title, config, path, headers) => {
    const files = { "/docs/page.html": "<p>Page", "/docs/deep/a.txt": "" };
    const { url } = await serve({ storage: memoryStorage(files), ...config });
    const { page } = await browser.open("about:blank", headers ? { extraHTTPHeaders: headers } : undefined);
    await page.goto(url + path);
    expect(await heardOf(page)).toBe(`main
  heading "${title}", 1`);
    expect([await page.title(), await violationsIn(page)]).toEqual([title, []]);
  });

  it("reads aloud what happens in a listing", async () => {
    const { page } = await open({ "/a.txt": "", "/b.txt": "", "/c.md": "" }, { maxFileSize: 10 }, "/", {});
    const heard = await listenTo(page);
    const hears = (text: string): Promise<void> => expect.poll(async () => (await heard()).at(-1)).toBe(text);
    await page.getByLabel("Filter by name").fill("TXT");
    await hears("2 of 3 entries");
    await page.getByLabel("Filter by name").fill("");
    const files = ["small.txt", "more than ten bytes.txt"].map((name) => {
      return { name, mimeType: "text/plain", buffer: Buffer.from(name.slice(0, -4)) };
    });
    await page.locator("input[type=file]").first().setInputFiles(files);
    await hears("Uploaded: 1 of 2 files. The list says why.");
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Delete a.txt" }).click();
    await hears("Deleted: a.txt.");
    await page.getByRole("button", { name: "Edit b.txt" }).click();
    await page.getByLabel("Content").fill("more than ten bytes");
    await page.getByRole("button", { name: "Save" }).click();
    await hears("A file here holds at most 10 bytes. Your text is still here.");
    await page.getByLabel("Content").fill("few");
    await page.getByRole("button", { name: "Save" }).click();
    await hears("b.txt is saved.");
    expect((await heard()).length).toBe(5); // and nothing besides, such as each percent of an upload
  });

  it("reads aloud what others do to a live page, and whether it is live", async () => {
    const { url } = await exampleSite();
    const wire = await cableTo(url);
    const { page } = await browser.open(`${wire.url}/to-do.html`);
    await page.locator(".connection.live").waitFor();
    const heard = await listenTo(page);
    const hears = (text: string): Promise<void> => expect.poll(async () => (await heard()).at(-1)).toBe(text);
    const headers = { range: "selector=#todo" };
    await send(url, "POST", "/to-do.html", { headers, body: "<li>Water the plants</li>" });
    await hears("Somebody added “Water the plants”.");
    wire.pull();
    await hears("Connecting…");
    wire.plugIn();
    await hears("Live: open this page in a second window.");
  });

  it("reads aloud what a request of the playground has done", { tags: ["campaign"] }, async () => {
    const { url } = await exampleSite();
    const { page } = await browser.open(`${url}/`);
    await page.locator(".count", { hasText: "1 element" }).waitFor();
    const heard = await listenTo(page);
    const hears = (text: string): Promise<void> => expect.poll(async () => (await heard()).at(-1)).toBe(text);
    await page.getByLabel("Selector").fill("#menu li");
    await hears("4 elements");
    await page.getByRole("button", { name: "DELETE [data-price='0.00']" }).click();
    await hears("1 element");
    await page.keyboard.press("Enter");
    await expect.poll(heard).toContain("204 No Content. The file has changed.");
    await page.getByRole("button", { name: "Run: GET Read the news" }).click();
    await hears("206 Partial Content");
  });
});

function indented(text: string, by: number): string {
  return text.replace(/^/gm, " ".repeat(by));
}
