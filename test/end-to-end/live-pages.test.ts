import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { basicAuth } from "../../src/plugins/basic-auth.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { type Window, windows } from "../client/chromium.ts";
import { cableTo } from "../helpers/cable.ts";
import { sample, timesOf } from "../helpers/effort.ts";
import { type ExampleSite, exampleSite } from "../helpers/example-site.ts";
import { send } from "../helpers/send.ts";
import { serve } from "../helpers/serve.ts";
import { projectRoot } from "../helpers/source-files.ts";

/** What Chromium itself notes of a reply that is an error. */
const failedToLoad = (status: string): string =>
  `error: Failed to load resource: the server responded with a status of ${status}`;

describe("live pages", { tags: ["chromium"] }, () => {
  const browser = windows();

  /** A window in which a page is alive. */
  async function live(url: string, options?: BrowserContextOptions): Promise<Window> {
    const window = await browser.open(url, options);
    await window.page.waitForSelector(".connection.live");
    return window;
  }

  const edit = async (url: string, method: string, selector: string, body?: string): Promise<void> => {
    const { status } = await send(url, method, new URL(url).pathname, {
      headers: { range: `selector=${selector}` },
      body,
    });
    expect([206, 204]).toContain(status);
  };

  /** The items of the list; a plus for what is done. */
  const itemsOf = (page: Page): Promise<string[]> =>
    page.locator("#todo li").evaluateAll((items) =>
      items.map((item) => {
        const text = [...item.childNodes].filter((node) => node instanceof Text).map((node) => node.data);
        return (item.querySelector("input")?.checked ? "+ " : "- ") + text.join("").trim();
      }),
    );
  const showsItems = async ({ page }: Window, items: readonly string[]): Promise<void> => {
    await expect.poll(() => itemsOf(page)).toEqual(items);
  };
  const saidIn = ({ page }: Window): Promise<string | null> => page.locator(".news.shown").textContent();

  const begin = ["+ Buy bread", "- Repair the kite", "+ Answer the letter from the lighthouse", "- Plant tomatoes"];
  const first = [...begin, "- Learn one new selector"];

  it("show in each of two windows what is done in the other", async () => {
    const { url, stored } = await exampleSite();
    const [one, other] = [await live(`${url}/to-do.html`), await live(`${url}/to-do.html`)];
    await showsItems(one, first);

    await one.page.getByRole("checkbox", { name: "Plant tomatoes" }).check();
    await showsItems(other, [...begin.with(3, "+ Plant tomatoes"), "- Learn one new selector"]);
    await other.page.getByPlaceholder("Think of something").fill("Water <b> & the plants");
    await other.page.getByRole("button", { name: "Add" }).click();
    const added = [...begin.with(3, "+ Plant tomatoes"), "- Learn one new selector", "- Water <b> & the plants"];
    await showsItems(one, added);
    expect(await saidIn(one)).toBe("Somebody added “Water <b> & the plants”.");
    await showsItems(other, added);

    await one.page.getByRole("button", { name: "Delete “Repair the kite”" }).click();
    await showsItems(other, added.toSpliced(1, 1));
    await other.page.getByRole("checkbox", { name: "Buy bread" }).uncheck();
    await showsItems(one, added.toSpliced(1, 1).with(0, "- Buy bread"));

    const text = await stored("to-do.html");
    expect(text).toContain('<li id="bread">Buy bread</li>');
    expect(text).toMatch(/<li id="item-\d+">Water &lt;b&gt; &amp; the plants<\/li>/);
    expect(text).not.toContain("data-local");
    expect([...one.problems, ...other.problems]).toEqual([]);
  });

  it("can be used with the keyboard alone, and keep the focus where it is", { tags: ["campaign"] }, async () => {
    const { url } = await exampleSite();
    const [window, other] = [await live(`${url}/to-do.html`), await live(`${url}/to-do.html`)];
    const { keyboard } = window.page;
    const focused = (): Promise<string> =>
      window.page.evaluate(() => {
        const { localName, ariaLabel } = document.activeElement as Element;
        return `${localName} ${ariaLabel}`;
      });

    await window.page.getByRole("checkbox", { name: "Repair the kite" }).focus();
    await keyboard.press("Space");
    await showsItems(other, first.with(1, "+ Repair the kite"));
    expect(await focused()).toBe("input Repair the kite");

    await keyboard.press("Tab");
    expect(await focused()).toBe("button Edit “Repair the kite”");
    await keyboard.press("Enter");
    await expect.poll(focused).toBe("input What is to be done");
    await keyboard.type("Sell the ki");
    await edit(`${url}/to-do.html`, "DELETE", "#bread"); // the page changes meanwhile
    await showsItems(other, first.with(1, "+ Repair the kite").slice(1));
    await keyboard.type("te");
    await keyboard.press("Enter");
    await showsItems(other, first.with(1, "+ Sell the kite").slice(1));
    await expect.poll(focused).toBe("button Edit “Sell the kite”");

    await keyboard.press("Enter");
    await expect.poll(focused).toBe("input What is to be done");
    await keyboard.type("Nothing of it");
    await keyboard.press("Escape");
    expect(await focused()).toBe("button Edit “Sell the kite”");

    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await showsItems(other, first.slice(2));
    await expect.poll(focused).toBe("button Delete “Answer the letter from the lighthouse”");
    await window.page.getByPlaceholder("Think of something").focus();
    await keyboard.type("Rest");
    await keyboard.press("Enter");
    await showsItems(other, [...first.slice(2), "- Rest"]);
    expect(await focused()).toBe("input New item");
    expect(window.problems).toEqual([]);
  });

  describe("where two people edit the same text", () => {
    async function conflict(body: string | undefined): Promise<Window & ExampleSite> {
      const served = await exampleSite();
      const window = await live(`${served.url}/to-do.html`);
      await window.page.getByRole("button", { name: "Edit “Repair the kite”" }).focus();
      await window.page.keyboard.press("Enter");
      await window.page.getByLabel("What is to be done").fill("My kite");
      if (body === undefined) await edit(`${served.url}/to-do.html`, "DELETE", "#kite");
      else {
        await edit(`${served.url}/to-do.html`, "PUT", "#kite", body);
        await window.page.waitForSelector(".news.shown");
        await window.page.keyboard.press("Enter");
      }
      return { ...served, ...window };
    }
    const theirs = '<li id="kite" class="done">Their kite</li>';

    it("say so in plain words, and keep the one text when that is chosen", async () => {
      const { page, stored, problems } = await conflict(theirs);
      const dialog = page.getByRole("dialog", { name: "Somebody has changed this while you were writing." });
      await dialog.waitFor();
      expect(await dialog.locator("dd").allTextContents()).toEqual(["My kite", "Their kite"]);
      await page.keyboard.press("Enter"); // one too many
      expect(await dialog.isVisible()).toBe(true);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await showsItems({ page, problems }, first.with(1, "+ My kite")); // with their tick
      expect(await dialog.isVisible()).toBe(false);
      expect(await stored("to-do.html")).toContain('<li id="kite" class="done">My kite</li>');
      expect(problems).toEqual([failedToLoad("412 (Precondition Failed)")]);
    });

    it("go back to the text with Escape, and take the other one when that is chosen", {
      tags: ["campaign"],
    }, async () => {
      const { page, stored, problems } = await conflict(theirs);
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await page.getByLabel("What is to be done").inputValue()).toBe("My kite");
      expect(await stored("to-do.html")).toContain(theirs);

      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Space");
      await showsItems({ page, problems }, first.with(1, "+ Their kite"));
      await page.locator(".editor").waitFor({ state: "detached" });
      expect(await stored("to-do.html")).toContain(theirs);
    });

    it("ask nothing where only the tick has changed", { tags: ["campaign"] }, async () => {
      const { page, problems } = await conflict('<li id="kite" class="done">Repair the kite</li>');
      await showsItems({ page, problems }, first.with(1, "+ My kite"));
    });

    it("do not lose a text whose element was deleted", async () => {
      const { page, problems } = await conflict(undefined);
      await page.getByRole("dialog", { name: "Somebody has deleted this while you were writing." }).waitFor();
      await page.getByRole("button", { name: "Put mine back" }).click();
      await showsItems({ page, problems }, [...first.toSpliced(1, 1), "- My kite"]);
      expect(problems).toEqual([]);
    });

    it("keep a text whose element was deleted in the field for a new one, with Escape", {
      tags: ["campaign"],
    }, async () => {
      const { page } = await conflict(undefined);
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await expect.poll(() => page.getByPlaceholder("Think of something").inputValue()).toBe("My kite");
    });
  });

  it("catch up with what happened while the connection was cut, and apply nothing twice", async () => {
    const { url, stored } = await exampleSite();
    const wire = await cableTo(url);
    const [cut, other] = [await live(`${wire.url}/to-do.html`), await live(`${url}/to-do.html`)];
    const expected = [...first];
    const rounds = timesOf(2, 4);
    for (let round = 1; round <= rounds; round += 1) {
      const add = async (text: string): Promise<void> => {
        await edit(`${url}/to-do.html`, "POST", "#todo", `<li>${text}</li>`);
        expected.push(`- ${text}`);
      };
      await add(`before ${round}`);
      if (round > 1) await showsItems(cut, expected); // the first time, the message is on its way
      wire.pull();
      await cut.page.waitForSelector(".connection:not(.live)");
      await add(`meanwhile ${round}`);
      await edit(`${url}/to-do.html`, "DELETE", "#todo li:nth-child(2)");
      expected.splice(1, 1);
      await cut.page.getByPlaceholder("Think of something").fill(`own ${round}`);
      await cut.page.keyboard.press("Enter");
      await expect.poll(() => saidIn(cut)).toBe("The server cannot be reached. Try again in a moment.");
      wire.plugIn();
      await cut.page.waitForSelector(".connection.live");
      await cut.page.keyboard.press("Enter"); // the text is still there
      expected.push(`- own ${round}`);
      await showsItems(cut, expected);
      await showsItems(other, expected);
    }
    expect((await stored("to-do.html")).match(/<li(?: id="item-\d+")?>(?:own|meanwhile)/g)).toHaveLength(2 * rounds);
    expect(other.problems).toEqual([]);
    expect(cut.problems.filter((problem) => !/ERR_(?:CONNECTION|EMPTY|SOCKET)/.test(problem))).toEqual([]);
  });

  it("tell those who may not change the page so, and leave it as it is", { tags: ["campaign"] }, async () => {
    const auth = basicAuth({
      users: (username, password) => username === password,
      rules: [
        { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
        { username: "ada", path: "/*", permission: "allow" },
      ],
    });
    const { url, stored } = await exampleSite({ plugins: [auth, webSocket()] });
    const as = (name: string): BrowserContextOptions => ({
      httpCredentials: { username: name, password: name, send: "always" },
    });
    const [ada, bob] = [await live(`${url}/to-do.html`, as("ada")), await live(`${url}/to-do.html`, as("bob"))];
    const refusal = "Nothing was changed: you may read this page, but not change it.";

    await bob.page.getByRole("checkbox", { name: "Plant tomatoes" }).click();
    await expect.poll(() => saidIn(bob)).toBe(refusal);
    await showsItems(bob, first); // the tick is gone again
    await bob.page.getByPlaceholder("Think of something").fill("Bob was here");
    const refused = bob.page.waitForResponse((response) => response.status() === 403);
    await bob.page.keyboard.press("Enter");
    await refused;
    expect(await bob.page.getByPlaceholder("Think of something").inputValue()).toBe("Bob was here");
    expect(await stored("to-do.html")).not.toContain("Bob was here");

    await ada.page.getByRole("checkbox", { name: "Plant tomatoes" }).click();
    await showsItems(bob, first.with(3, "+ Plant tomatoes"));
    expect(await saidIn(bob)).toBe("ada changed “Plant tomatoes”.");
    expect(ada.problems).toEqual([]);
    expect(new Set(bob.problems)).toEqual(new Set([failedToLoad("403 (Forbidden)")]));
  });

  describe("of docs/live-pages.md", () => {
    const docs = readFileSync(join(projectRoot, "docs/live-pages.md"), "utf8");
    const [toDo = "", title = ""] = [...docs.matchAll(/^```html\n([\s\S]*?)^```$/gm)].map(([, html]) => html);

    it("are alive with ten lines", async () => {
      expect(
        toDo
          .match(/<script[^>]*>\n([\s\S]*?)<\/script>/)?.[1]
          ?.trim()
          .split("\n").length,
      ).toBeLessThanOrEqual(13);
      const storage = memoryStorage({ "/to-do.html": toDo });
      const { url } = await serve({ storage, client: true, plugins: [webSocket()] });
      const [one, other] = [await browser.open(`${url}/to-do.html`), await browser.open(`${url}/to-do.html`)];
      await one.page.locator("input").fill("Test <it>");
      await one.page.keyboard.press("Enter");
      for (const { page } of [one, other]) {
        await expect.poll(() => page.locator("li").allTextContents()).toEqual(["Write", "Test <it>"]);
      }
      await expect.poll(() => one.page.locator("input").inputValue()).toBe("");
      expect([...one.problems, ...other.problems].filter((problem) => !problem.includes("404"))).toEqual([]); // the icon
    });

    it("say why a change was refused, and keep the text", async () => {
      const storage = memoryStorage({ "/to-do.html": toDo });
      const { url } = await serve({ storage, client: true, readOnly: true });
      const { page } = await browser.open(`${url}/to-do.html`);
      const said: string[] = [];
      page.on("dialog", (dialog) => {
        said.push(dialog.message());
        return dialog.dismiss();
      });
      await page.locator("input").fill("Test");
      await page.keyboard.press("Enter");
      await expect.poll(() => said).toEqual([expect.stringMatching(/^[A-Z].*\.$/)]);
      expect(await page.locator("input").inputValue()).toBe("Test");
    });

    const choices: readonly [boolean, string][] = [
      [true, "Mine"],
      [false, "Theirs"],
    ];

    it.each(sample(choices, 2))(
      "ask before they overwrite what somebody else has written: %s",
      async (isKept, expected) => {
        const storage = memoryStorage({
          "/title.html": `<!doctype html><link rel="icon" href="data:,"><h1 id="title">Old</h1>${title}`,
        });
        const { url } = await serve({ storage, client: true });
        const window = await browser.open(`${url}/icon.txt`); // somewhere, to listen before anything is asked
        const asked: string[] = [];
        window.page.on("dialog", async (dialog) => {
          asked.push(dialog.message());
          if (dialog.type() === "prompt") {
            await edit(`${url}/title.html`, "PUT", "#title", '<h1 id="title">Theirs</h1>');
            await dialog.accept("Mine");
          } else if (isKept) await dialog.accept();
          else await dialog.dismiss();
        });
        await window.page.goto(`${url}/title.html`);
        await expect.poll(() => asked.length).toBe(2);
        const stored = async (): Promise<string> => {
          const headers = { range: "selector=#title" };
          return (await send(url, "GET", "/title.html", { headers })).text;
        };
        await expect.poll(stored).toBe(`<h1 id="title">${expected}</h1>`);
      },
    );
  });

  it("make the guest book one that is signed, edited and read by many", { tags: ["campaign"] }, async () => {
    const { url, stored } = await exampleSite();
    const [one, other] = [await live(`${url}/guest-book.html`), await live(`${url}/guest-book.html`)];
    const texts = ({ page }: Window): Promise<string[]> => page.locator(".entry p").allTextContents();

    await one.page.getByLabel("Your name").fill("Eve <script>");
    await one.page.getByLabel("What you want to say").fill("Hello & <i>goodbye</i>");
    await one.page.getByRole("button", { name: "Sign" }).click();
    await expect.poll(async () => (await texts(other))[3]).toBe("Hello & <i>goodbye</i>");
    expect(await other.page.locator(".entry footer").last().textContent()).toMatch(/^Eve <script>, \d+ \w+ \d{4}$/);
    await expect.poll(() => one.page.getByLabel("What you want to say").inputValue()).toBe("");

    await other.page.getByRole("button", { name: /^Edit “Hello/ }).focus();
    await other.page.keyboard.press("Enter");
    await other.page.getByLabel("Entry", { exact: true }).fill("Hello again");
    await other.page.keyboard.press("Enter");
    await expect.poll(async () => (await texts(one))[3]).toBe("Hello again");
    await one.page.getByRole("button", { name: /^Delete “I came/ }).focus();
    await one.page.keyboard.press("Enter");
    await expect.poll(async () => (await texts(other)).length).toBe(3);
    const text = await stored("guest-book.html");
    expect(text).toMatch(/<p>Hello again<\/p>\s+<footer>Eve &lt;script&gt;, <time datetime="\d{4}-\d\d-\d\d">/);
    expect(text).not.toMatch(/id="entry-1"|data-local/);
    expect([...one.problems, ...other.problems]).toEqual([]);
  });
});
