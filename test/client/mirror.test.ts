import { describe, expect, it, onTestFinished } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { webSocket } from "../../src/plugins/web-socket.ts";
import type { Change } from "../../src/server/change-feed.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { memoryStorage } from "../../src/storage/memory/memory-storage.ts";
import { realPages } from "../elements/pages.ts";
import { deferred } from "../helpers/deferred.ts";
import { sample, seededRandom } from "../helpers/effort.ts";
import { send } from "../helpers/send.ts";
import { type Served, serve } from "../helpers/serve.ts";
import { type Window, windows } from "./chromium.ts";
import { type FakeFeed, fakeFeed } from "./fake-feed.ts";
import { openPage, pageWith } from "./page-with.ts";

const list = '<ul id="todo"><li>1</li></ul>';

/** What the pages of these tests have in their window. */
declare global {
  var mirrored: ReturnType<typeof client.connect>;
  var unmirror: () => void;
  /** The text of the body, without white space. */
  var textOf: () => string;
}

/** Holds back reads of the whole page by the mirror, once told to. */
function reads(): { plugin: Plugin; count(): number; hold(): Promise<() => void> } {
  let count = 0;
  let held: ((release: () => void) => void) | undefined;
  return {
    plugin: {
      name: "reads",
      async handle({ method, path, headers }, next) {
        const isRead = method === "GET" && path === "/page.html" && headers.range === undefined;
        if (!isRead || headers["sec-fetch-dest"] !== "empty") return next();
        count += 1;
        const reply = next(); // as the file is now, however late the browser hears of it
        await reply.catch(() => {}); // that it is gone is an answer, too
        if (held) {
          const tell = held;
          held = undefined;
          await new Promise<void>((resolve) => tell(resolve));
        }
        return reply;
      },
    },
    count: () => count,
    /** Settles when a read has come, with what lets it go on. */
    hold: () =>
      new Promise((resolve) => {
        held = resolve;
      }),
  };
}

describe("mirror", { tags: ["chromium"] }, () => {
  const browser = windows();

  interface Opened extends Served, Window {
    readonly changes: Change[];
    /** Edits elements from elsewhere. */
    edit(method: string, selector: string, body?: string): Promise<void>;
    put(body: string): Promise<void>;
  }

  async function opened(config: FileServerConfig = {}): Promise<Opened> {
    const window = await openPage(browser, list, undefined, config);
    const changes: Change[] = [];
    window.files.changes.subscribe((change) => changes.push(change));
    await window.page.evaluate(() => {
      globalThis.textOf = () => document.body.textContent.replace(/\s/g, "");
    });
    return {
      ...window,
      changes,
      async edit(method, selector, body) {
        await send(window.url, method, "/page.html", { headers: { range: `selector=${selector}` }, body });
      },
      async put(body) {
        const { "/page.html": html = "" } = await pageWith(body);
        await send(window.url, "PUT", "/page.html", { body: html });
      },
    };
  }

  /** Switches the mirror on, and waits until it has read the file. */
  async function mirror({ page }: Window, webSocket = ""): Promise<void> {
    await page.evaluate((url) => {
      globalThis.mirrored = client.connect(undefined, url ? { webSocket: url } : {});
      globalThis.unmirror = mirrored.mirror((changes) => told.push(changes));
    }, webSocket);
    await page.waitForFunction(() => told.length > 0);
  }

  async function shows({ page }: Window, html: string): Promise<void> {
    const isShown = await page.waitForFunction(
      (wanted) => document.body.innerHTML.replaceAll("\n", "") === wanted,
      html,
    );
    expect(await isShown.jsonValue()).toBe(true);
  }
  const bodyOf = ({ page }: Window): Promise<string> =>
    page.evaluate(() => document.body.innerHTML.replaceAll("\n", ""));

  describe("on a server", () => {
    it("shows what others replace, append and delete, without reading the file again", async () => {
      const { plugin, count } = reads();
      const window = await opened({ plugins: [plugin, webSocket()] });
      await mirror(window);
      await window.edit("POST", "#todo", "<li>2</li>");
      await window.edit("PUT", "li:first-child", "<li>one</li>");
      await shows(window, '<ul id="todo"><li>one</li><li>2</li></ul>');
      await window.edit("DELETE", "li");
      await shows(window, '<ul id="todo"></ul>');
      expect(count()).toBe(1);
      expect(window.problems).toEqual([]);
    });

    it("shows a list of edits as one step, own ones before they are done, without reading the file again", async () => {
      const { plugin, count } = reads();
      const window = await opened({ plugins: [plugin, webSocket()] });
      await mirror(window);
      await window.put(`${list}<ul id="done"></ul>`);
      await shows(window, '<ul id="todo"><li>1</li></ul><ul id="done"></ul>');
      const seen = await window.page.evaluate(async () => {
        const cards: number[] = [];
        const observer = new MutationObserver(() => cards.push(document.querySelectorAll("li").length));
        observer.observe(document.body, { childList: true, subtree: true });
        const move = { op: "move", selector: "li", position: "beforeend" } as const;
        await mirrored.edit([
          { ...move, to: "#done" },
          { op: "addClass", selector: "li", class: "x" },
        ]);
        const own = document.body.innerHTML.replaceAll("\n", "");
        await client.connect().edit([
          { ...move, to: "#todo" },
          { op: "setText", selector: "li", text: "2" },
        ]); // another client
        await mirrored.select("li").addClass("x"); // which changes nothing: there is no message to wait for
        return { cards, own };
      });
      expect(seen.own).toBe('<ul id="todo"></ul><ul id="done"><li class="x">1</li></ul>');
      await shows(window, '<ul id="todo"><li class="x">2</li></ul><ul id="done"></ul>');
      expect(seen.cards.every((cards) => cards === 1)).toBe(true);
      expect(seen.cards).not.toEqual([]);
      expect(count()).toBe(2);
      expect(window.problems).toEqual([]);
    });

    it("has white space where the file has it, behind the body too", async () => {
      const window = await opened({ plugins: [webSocket()] });
      await mirror(window);
      await window.edit("POST", "body", "<p>2</p>\n<p>3</p>");
      await shows(window, `${list}<p>2</p><p>3</p>`);
      expect(await window.page.evaluate(() => document.body.innerHTML)).toBe(`${list}<p>2</p>\n<p>3</p>\n`);
    });

    it("reads the file when all of it was written, or a message does not tell enough", async () => {
      const { plugin, count } = reads();
      const window = await opened({ plugins: [plugin, webSocket()] });
      await mirror(window);
      await window.put("<table><tr><td>1</table>");
      await shows(window, "<table><tbody><tr><td>1</td></tr></tbody></table>");
      const table = "<table><tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>";
      await window.edit("POST", "table", "<tr><td>2");
      await shows(window, table);
      await window.edit("POST", "body", '<p class="größe">');
      await shows(window, `${table}<p class="größe"></p>`);
      await window.edit("PUT", encodeURIComponent(".größe"), "<p>p");
      await shows(window, `${table}<p>p</p>`);
      expect(count()).toBe(5);
    });

    it("shows own edits before it says that they are done, and once", async () => {
      const window = await opened({ plugins: [webSocket()] });
      await mirror(window);
      const shown = await window.page.evaluate(async () => {
        const states: string[] = [];
        const { select } = mirrored;
        const todo = select("#todo");
        for (const text of ["2", "3", "4"]) {
          await todo.append(`<li>${text}</li>`);
          states.push(textOf());
        }
        await select("li").remove();
        return [...states, textOf(), await select("li").remove()];
      });
      expect(shown).toEqual(["12", "123", "1234", "", 0]);
      const all = await window.page.evaluate(() => (told as { own: boolean; kind: string }[][]).flat());
      expect(all.map(({ own, kind }) => [own, kind])).toEqual([
        ...Array(3).fill([true, "elements-appended"]),
        [true, "elements-deleted"],
      ]);
    });

    it("leaves the document as it is when the file is gone, and shows the next one", {
      tags: ["campaign"],
    }, async () => {
      const window = await opened({ plugins: [webSocket()] });
      await mirror(window);
      const missing = window.page.waitForResponse((response) => response.status() === 404);
      await send(window.url, "DELETE", "/page.html");
      await missing;
      expect(await bodyOf(window)).toBe(list);
      await window.put("<p>new");
      await shows(window, "<p>new</p>");
    });

    it("may be switched on again, and not twice at once", { tags: ["campaign"] }, async () => {
      const window = await opened({ plugins: [webSocket()] });
      const message = await window.page.evaluate(() => {
        const page = client.connect();
        page.mirror(() => told.push("stopped"))();
        page.mirror(() => told.push("up to date"));
        try {
          return page.mirror();
        } catch (error) {
          return String(error);
        }
      });
      expect(message).toBe("Error: mirrored already");
      await window.page.waitForFunction(() => told.length > 0);
      await window.edit("DELETE", "li");
      await shows(window, '<ul id="todo"></ul>');
      expect(await window.page.evaluate(() => told)).not.toContain("stopped");
    });
  });

  it("shows what was changed after the browser had loaded the page", async () => {
    const window = await opened({ plugins: [webSocket()] });
    await window.edit("POST", "#todo", "<li>2</li>");
    await mirror(window);
    expect(await bodyOf(window)).toBe('<ul id="todo"><li>1</li><li>2</li></ul>');
  });

  it("reads again, when the server could not answer", { tags: ["campaign"] }, async () => {
    let isBroken = true;
    const { promise: asked, resolve: told } = deferred();
    const broken: Plugin = {
      name: "broken",
      handle({ headers, path }, next) {
        if (headers["sec-fetch-dest"] !== "empty" || path !== "/page.html" || !isBroken) return next();
        told();
        throw new HttpError(503, "OVERLOADED", "Later.");
      },
    };
    const window = await opened({ plugins: [broken, webSocket()] });
    await window.edit("POST", "#todo", "<li>2</li>");
    await window.page.evaluate(() => {
      const { setTimeout } = globalThis;
      const retryMs = 3_000;
      Object.assign(globalThis, {
        setTimeout: (callback: () => void, ms: number) => setTimeout(callback, ms === retryMs ? 0 : ms),
      });
      client.connect().mirror();
    });
    await asked;
    isBroken = false;
    await shows(window, '<ul id="todo"><li>1</li><li>2</li></ul>');
  });

  describe("when messages and the file overtake each other", () => {
    /** Messages go to the page only when the test says so. */
    async function told(config: FileServerConfig = {}): Promise<Opened & { feed: FakeFeed; tell: Teller }> {
      const window = await opened(config);
      const feed = await fakeFeed();
      const mirroring = mirror(window, feed.url);
      const caller = await feed.next();
      caller.send({ type: "hello", feed: "f", id: 0 });
      await mirroring;
      const tell: Teller = (...ids) => caller.send(...ids.map((id) => ({ type: "change", ...window.changes[id - 1] })));
      return { ...window, feed, tell };
    }
    type Teller = (...ids: number[]) => void;
    const item = (text: string): string => `<li>${text}</li>`;

    it("makes no change twice that was in the file when it was read", async () => {
      const { plugin, hold, count } = reads();
      const window = await told({ plugins: [plugin] });
      await window.edit("POST", "#todo", item("2"));
      const reading = hold();
      await window.put('<ol id="todo"><li>1</li></ol>');
      window.tell(1, 2); // the second has it read
      const goOn = await reading;
      await window.edit("POST", "#todo", item("3")); // after what is on its way
      await window.edit("POST", "#todo", item("4"));
      window.tell(3, 4);
      await window.page.evaluate(() => fetch("/none")); // the messages were there before this was answered
      goOn();
      await shows(window, `<ol id="todo">${["1", "3", "4"].map(item).join("")}</ol>`);
      expect(count()).toBe(2);
    });

    it("makes just those that came after the one that the file has", { tags: ["campaign"] }, async () => {
      const { plugin, hold } = reads();
      const window = await told({ plugins: [plugin] });
      await window.put('<ol id="todo"></ol>');
      await window.edit("POST", "#todo", item("2"));
      const reading = hold();
      window.tell(1);
      const goOn = await reading; // with the second change in it
      await window.edit("POST", "#todo", item("3"));
      window.tell(2, 3);
      await window.page.evaluate(() => fetch("/none"));
      goOn();
      await shows(window, `<ol id="todo">${item("2")}${item("3")}</ol>`);
    });

    it("puts right what it has made twice, when the message of what the file had comes late", async () => {
      const window = await told();
      await window.put('<ol id="todo"></ol>');
      await window.edit("POST", "#todo", item("2"));
      await window.edit("POST", "#todo", item("3"));
      window.tell(1); // has it read a file that the other two are in
      await shows(window, `<ol id="todo">${item("2")}${item("3")}</ol>`);
      window.tell(2, 3);
      await window.edit("POST", "#todo", item("4"));
      window.tell(4);
      await shows(window, `<ol id="todo">${["2", "3", "4"].map(item).join("")}</ol>`);
    });

    it("reads once more, where it is unknown which of the changes the file has", async () => {
      const { plugin, hold, count } = reads();
      const window = await told({ plugins: [plugin] });
      await window.put('<ol id="todo"></ol>');
      await window.edit("POST", "#todo", item("2"));
      await window.edit("POST", "#todo", item("3"));
      const reading = hold();
      window.tell(1);
      const goOn = await reading; // with the third change, of which nobody has told
      window.tell(2);
      await window.page.evaluate(() => fetch("/none"));
      goOn();
      await window.page.waitForFunction(() => told.length === 2);
      expect(await bodyOf(window)).toBe(`<ol id="todo">${item("2")}${item("3")}</ol>`);
      expect(count()).toBe(3);
    });

    it("reads the file when the elements of a change are not those that it knows", { tags: ["campaign"] }, async () => {
      const { plugin, count } = reads();
      const window = await told({ plugins: [plugin] });
      await window.edit("POST", "#todo", item("2")); // nobody tells
      await window.edit("DELETE", "li");
      window.tell(2);
      await shows(window, '<ul id="todo"></ul>');
      expect(count()).toBe(2);
    });

    it("reads once more, when the file comes back before the answer is here that it is gone", {
      tags: ["campaign"],
    }, async () => {
      const { plugin, hold, count } = reads();
      const window = await told({ plugins: [plugin] });
      await send(window.url, "DELETE", "/page.html");
      const reading = hold();
      window.tell(1);
      const goOn = await reading;
      await window.put("<p>new");
      window.tell(2);
      await window.page.evaluate(() => fetch("/none"));
      goOn();
      await shows(window, "<p>new</p>");
      expect(count()).toBe(3);
    });

    it("reads the file when changes were missed", async () => {
      const window = await told();
      await window.edit("POST", "#todo", item("2"));
      await window.page.evaluate(() => dispatchEvent(new Event("online"))); // a connection is made anew
      const caller = await window.feed.next();
      caller.send({ type: "hello", feed: "g", id: 5 }, { type: "gap" });
      await shows(window, `<ul id="todo">${item("1")}${item("2")}</ul>`);
    });

    it("shows an own edit, although nobody tells of it", { tags: ["campaign"] }, async () => {
      const window = await told();
      const text = await window.page.evaluate(async () => {
        await mirrored.select("#todo").append("<li>2</li>");
        return textOf();
      });
      expect(text).toBe("12");
    });
  });
});

describe("mirror, on pages of the web", { tags: ["chromium"] }, () => {
  const browser = windows();
  interface Shown extends Window {
    tree(): Promise<string>;
  }
  const elements = "p,li,td,div,h1,h2,h3,a,span,noscript";
  const added = "<p>new</p>";
  const pixel = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

  /** Two windows, without the pages' own scripts, which would edit the page as well; scripting is on all the same. */
  async function opened(html: string): Promise<[mirrored: Shown, reloaded: Shown]> {
    const files = { ...(await pageWith("")), "/page.html": html };
    const noScripts: Plugin = {
      name: "no-scripts",
      handle: async (_exchange, next) => {
        const reply = await next();
        const policy = "script-src 'self'"; // the page has its scripts from elsewhere
        return { ...reply, headers: { ...reply.headers, "content-security-policy": policy } };
      },
    };
    const served = await serve({ storage: memoryStorage(files), plugins: [noScripts, webSocket()] });
    const open = async (): Promise<Shown> => {
      const window = await browser.open("about:blank");
      await window.page.route(/./, (route) => {
        const asked = route.request();
        // An image that is there is not asked for again where its element moves.
        if (asked.resourceType() === "image") return route.fulfill({ contentType: "image/gif", body: pixel });
        return asked.url().startsWith(served.url) ? route.continue() : route.abort();
      });
      onTestFinished(() => window.page.unroute(/./));
      await window.page.goto(`${served.url}/page.html`);
      // Where the server makes markup regular that an edit would break, it drops white space at the end of the body.
      const tree = async (): Promise<string> => {
        const html = await window.page.evaluate(() => document.documentElement.outerHTML);
        const all = html.replace(/<\/body><\/html>$/, "").trimEnd();
        return all.endsWith(added) ? all.slice(0, -added.length).trimEnd() + added : all;
      };
      return { ...window, tree };
    };
    return [await open(), await open()];
  }

  it.each(sample(realPages(), 8))(
    "asks for nothing, goes nowhere, and shows after each edit what a reload does: $name",
    async ({ bytes, number }) => {
      const [window, reloaded] = await opened(bytes.toString());
      const before = await window.tree();
      const asked: string[] = [];
      let method = "";
      window.page.on("request", (request) => {
        // They are loaded again where their element gets another parent.
        const isMoved = method === "move" && ["stylesheet", "document"].includes(request.resourceType());
        if (!isMoved) asked.push(new URL(request.url()).pathname);
      });
      await window.page.evaluate(
        "import(location.origin + '/.well-known/filement/client.js').then((it) => { globalThis.client = it; })",
      );
      await window.page.evaluate(async () => {
        await new Promise<void>((resolve) => {
          globalThis.mirrored = client.connect();
          globalThis.unmirror = mirrored.mirror(() => resolve());
        });
      });
      expect(await window.tree()).toBe(before);

      const pick = seededRandom(number);
      for (method of ["append", "setAttribute", "move", "replace", "remove"]) {
        const position = Math.floor(pick() * 1_000);
        await window.page.evaluate(
          async ([how, selected, at, addition]) => {
            const found = [...document.body.querySelectorAll(selected)];
            const element = found[at % found.length] ?? document.body;
            const edit = async (): Promise<unknown> => {
              const item = mirrored.select(how === "append" ? "body" : mirrored.selectorOf(element));
              if (how === "append") return item.append(addition);
              if (how === "setAttribute") return item.setAttribute("title", 'a "title" & more');
              if (how === "move") return item.move("body", "beforeend");
              return how === "replace" ? item.replace("<b>new</b>") : item.remove();
            };
            await edit().catch((error) => {
              if (error.status !== 400) throw error; // not everything can stand everywhere
            });
          },
          [method, elements, position, added] as const,
        );
        await reloaded.page.goto(window.page.url());
        expect(await window.tree(), `${method} ${position}`).toBe(await reloaded.tree());
      }
      expect(asked.filter((path) => !/^\/(?:page\.html|ws|\.well-known\/.*)$/.test(path))).toEqual([]);
    },
  );
});
