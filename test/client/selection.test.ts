import { describe, expect, it } from "vitest";
import type { FileServerConfig } from "../../src/config.ts";
import { HttpError } from "../../src/http/http-error.ts";
import type { Plugin } from "../../src/server/plugin.ts";
import { emptyReply } from "../../src/server/reply.ts";
import { sample } from "../helpers/effort.ts";
import { send } from "../helpers/send.ts";
import type { Served } from "../helpers/serve.ts";
import { type Window, windows } from "./chromium.ts";
import { openPage } from "./page-with.ts";

const list = '<ul id="todo">\n  <li id="a">Bread</li>\n  <li id="b">Milk</li>\n</ul>';

/** What was thrown, as far as it can be handed out of the browser. */
interface Thrown {
  readonly status: number;
  readonly code: string;
  readonly details: string;
}

describe("a selection", { tags: ["chromium"] }, () => {
  const browser = windows();

  /** A page in a browser, and what it has sent to change or read elements. */
  async function opened(
    body: string,
    config: FileServerConfig = {},
  ): Promise<Served & Window & { sent: Record<string, string | undefined>[]; stored(): Promise<string> }> {
    const sent: Record<string, string | undefined>[] = [];
    const recorder: Plugin = {
      name: "recorder",
      handle({ method, headers }, next) {
        const { range, "x-range-unit": unit, "if-match": ifMatch, "x-request-id": id } = headers;
        if (range) sent.push({ method, range, unit: String(unit), ifMatch, id: String(id) });
        return next();
      },
    };
    const plugins = [recorder, ...(config.plugins ?? [])];
    const window = await openPage(browser, body, undefined, { ...config, plugins });
    const stored = async (): Promise<string> => {
      const { text } = await send(window.url, "GET", "/page.html", { headers: { range: "selector=body" } });
      return text.replace(/^<body>|<\/body>$/g, "");
    };
    return { ...window, sent, stored };
  }

  it("gives elements as they stand in the file, and parsed", async () => {
    const { page, problems } = await opened(`${list}<table><tr><td>1<td>2</table>`);
    const got = await page.evaluate(async () => {
      const found = await Promise.all(["li", "td"].map((selector) => client.connect().select(selector).get()));
      return found.map(({ html, elements, matches }) => ({
        html,
        matches,
        texts: elements.map(({ localName, textContent }) => `${localName} ${textContent}`),
      }));
    });
    expect(got).toEqual([
      { html: '<li id="a">Bread</li><li id="b">Milk</li>', matches: 2, texts: ["li Bread", "li Milk"] },
      { html: "<td>1<td>2", matches: 2, texts: ["td 1", "td 2"] },
    ]);
    expect(problems).toEqual([]);
  });

  it("replaces, appends and removes, and gives what stands there now", async () => {
    const { page, stored, problems } = await opened(list);
    const given = await page.evaluate(async () => {
      const { select } = client.connect();
      const replaced = await select("#a").replace('<li id="a">Rye bread</li>');
      const appended = await select("#todo").append("<li>Jam</li>");
      const removed = await select("#b").remove();
      return [replaced.html, appended.elements[0]?.lastElementChild?.outerHTML, removed];
    });
    expect(given).toEqual(['<li id="a">Rye bread</li>', "<li>Jam</li>", 1]);
    expect(await stored()).toBe('<ul id="todo">\n  <li id="a">Rye bread</li>\n  \n<li>Jam</li></ul>');
    expect(problems).toEqual([]);
  });

  it("says of each request that it is about elements, and names it at random", { tags: ["campaign"] }, async () => {
    const { page, sent } = await opened(list);
    await page.evaluate(async () => {
      const { select } = client.connect();
      await select("#a").get();
      await select("#a").remove();
    });
    expect(sent.map(({ method, range, unit }) => [method, range, unit])).toEqual([
      ["GET", "selector=#a", "selector"],
      ["DELETE", "selector=#a", "selector"],
    ]);
    expect(sent[0]?.["id"]).toMatch(/^\d+-\d+\.\d+-\d+$/);
    expect(sent[0]?.["id"]).not.toBe(sent[1]?.["id"]);
  });

  it("gives what it appends an id where that is asked for, and leaves the ids that are there", async () => {
    const { page, stored } = await opened(list);
    await page.evaluate(async () => {
      const { select } = client.connect();
      const item = document.createElement("li");
      item.append("Tea");
      await select("#todo").append(item, { id: "item" });
      await select("#todo").append('<li>Salt</li><li id="own">Oil</li>', { id: "item" });
      if (item.id !== "") throw new Error("the element itself was changed");
    });
    expect(await stored()).toMatch(
      /<li id="item-\d+">Tea<\/li><li id="item-\d+">Salt<\/li><li id="own">Oil<\/li><\/ul>$/,
    );
  });

  it("selects with characters that header fields cannot have", { tags: ["campaign"] }, async () => {
    const { page, stored } = await opened('<p id="größe">1</p><p title="a%20b">2</p><p title="日本">3</p>');
    await page.evaluate(async () => {
      const { select } = client.connect();
      await select("#größe").replace("<p>eins</p>");
      await select('[title="a%20b"]').replace("<p>zwei</p>");
      await select("[title='日本'],\n[title=none]").replace("<p>drei</p>");
    });
    expect(await stored()).toContain("<p>eins</p><p>zwei</p><p>drei</p>");
  });

  it("writes only what is still as it was last seen, until it has been read again", async () => {
    const { page, url, sent, stored } = await opened(list);
    await page.evaluate(async () => {
      globalThis.item = client.connect().select("#a");
      await item.get();
    });
    await send(url, "PUT", "/page.html", { headers: { range: "selector=#a" }, body: '<li id="a">Cake</li>' });
    const attempt = (): Promise<unknown> =>
      page.evaluate(() =>
        item.replace('<li id="a">Mine</li>').then(
          () => "done",
          (error: Thrown) => error.code,
        ),
      );
    expect([await attempt(), await attempt()]).toEqual(["PRECONDITION_FAILED", "PRECONDITION_FAILED"]);
    expect(await stored()).toContain("Cake");
    await page.evaluate(() => item.get());
    expect(await attempt()).toBe("done");
    expect(await attempt()).toBe("done"); // it has seen what it wrote itself
    expect(await stored()).toContain("Mine");
    expect(sent[0]?.["ifMatch"]).toBeUndefined();
    expect(sent.filter(({ method, ifMatch }) => method === "PUT" && ifMatch?.startsWith('"elements:'))).toHaveLength(4);
  });

  it("moves, inserts and changes text, content, attributes and classes, and leaves every other byte", async () => {
    const { page, stored, problems } = await opened(`${list}<ol><li title=x>Tea</ol>`);
    const counts = await page.evaluate(async () => {
      const { select } = client.connect();
      const span = document.createElement("span");
      span.append("<new>");
      return [
        await select("#b").move("ol", "afterbegin"),
        await select("#b").insert("afterend", span),
        await select("li").addClass("one two"),
        await select("#a").removeClass("one"),
        await select("#a").setText("<Rye>"),
        await select("#b").setContent("<i>Oat</i>"),
        await select("ol li").setAttribute("title", "y"),
        await select("#b").removeAttribute("title"),
      ];
    });
    expect(counts).toEqual([1, 1, 3, 1, 1, 1, 2, 1]);
    expect(await stored()).toBe(
      '<ul id="todo">\n  <li id="a" class="two">&lt;Rye&gt;</li>\n  \n</ul><ol><li id="b" class="one two"><i>Oat</i></li>' +
        '<span>&lt;new&gt;</span><li title=y class="one two">Tea</ol>',
    );
    expect(problems).toEqual([]);
  });

  it("edits only what is still as it was last seen, and then whatever is there", async () => {
    const { page, url, stored } = await opened(list);
    await page.evaluate(async () => {
      globalThis.item = client.connect().select("#a");
      await item.get();
    });
    const attempt = () =>
      page.evaluate(() => item.addClass("done").then(String, ({ status, code, index }) => [status, code, index]));
    await send(url, "PUT", "/page.html", { headers: { range: "selector=#a" }, body: "<li id=a>Cake</li>" });
    expect(await attempt()).toEqual([412, "EDIT_PRECONDITION_FAILED", 0]);
    await page.evaluate(() => item.get());
    expect(await attempt()).toBe("1");
    await send(url, "PUT", "/page.html", { headers: { range: "selector=#a" }, body: "<li id=a>Pie</li>" });
    expect(await attempt()).toBe("1");
    expect(await stored()).toContain('<li id=a class="done">Pie</li>');
  });

  it("updates an element again with what another client has made of it, ten times at most", async () => {
    const { page, url, stored } = await opened("<b id=n>0</b><i></i><i></i>");
    let version = 1;
    const writeElsewhere = (): Promise<unknown> =>
      send(url, "PUT", "/page.html", { headers: { range: "selector=#n" }, body: `<b id=n>${version++}</b>` });
    await page.exposeFunction("writeElsewhere", writeElsewhere);
    const outcome = await page.evaluate(async () => {
      const { select } = client.connect();
      const writeElsewhere = Reflect.get(globalThis, "writeElsewhere") as () => Promise<void>;
      let calls = 0;
      const count = async (limit: number): Promise<unknown> => {
        calls = 0;
        const updated = select("#n").update(async (element) => {
          calls += 1;
          if (calls < limit) await writeElsewhere();
          element.textContent = `mine ${calls}`;
        });
        return [
          await updated.then(
            ({ html }) => html,
            ({ code }) => code,
          ),
          calls,
        ];
      };
      const codeOf = (selector: string): Promise<unknown> =>
        select(selector)
          .update(() => {})
          .then(String, ({ code }) => code);
      return [await count(3), await count(20), await codeOf("s"), await codeOf("i")];
    });
    expect(outcome).toEqual([['<b id="n">mine 3</b>', 3], ["PRECONDITION_FAILED", 10], "NO_MATCH", "SEVERAL_MATCHES"]);
    expect(await stored()).not.toContain("mine");
  });

  it("does one thing after the other, so that each knows what the one before has made of it", async () => {
    const { page, stored } = await opened(list);
    await page.evaluate(async () => {
      const todo = client.connect().select("#todo");
      await Promise.all([todo.get(), ...["1", "2", "3"].map((text) => todo.append(`<li>${text}</li>`))]);
    });
    expect(await stored()).toContain("<li>1</li><li>2</li><li>3</li></ul>");
  });

  it("understands tags that a proxy has made weak by compressing", { tags: ["campaign"] }, async () => {
    const weaken: Plugin = {
      name: "weaken",
      async handle(_exchange, next) {
        const reply = await next();
        const { etag } = reply.headers;
        return etag === undefined ? reply : { ...reply, headers: { ...reply.headers, etag: `W/${etag}` } };
      },
    };
    const { page, stored } = await opened(list, { plugins: [weaken] });
    await page.evaluate(async () => {
      const item = client.connect().select("#a");
      await item.get();
      await item.replace("<li>Mine</li>");
    });
    expect(await stored()).toContain("Mine");
  });

  describe("where nothing matches", () => {
    it.each(sample(["spec", "draft-00"] as const, 2))("gives no elements, and removes none: %s", async (dialect) => {
      const { page } = await opened(list, { dialect });
      const given = await page.evaluate(async () => {
        const { select } = client.connect();
        return [await select("#none").get(), await select("#none").remove()];
      });
      expect(given).toEqual([{ html: "", elements: [], matches: 0 }, 0]);
    });

    it("does not lose what was to be written without a word", async () => {
      const { page } = await opened(list);
      const codes = await page.evaluate(() => {
        const { select } = client.connect();
        const writes: Promise<unknown>[] = [
          select("#none").replace("<p>"),
          select("#none").append("text"),
          select("#none").addClass("x"),
          select("#none").remove({ mustExist: true }),
        ];
        return Promise.all(writes.map((write) => write.catch(({ code, status }: Thrown) => `${status} ${code}`)));
      });
      expect(codes).toEqual(Array(4).fill("204 NO_MATCH"));
    });
  });

  describe("tells what went wrong:", () => {
    const refusing: Plugin = {
      name: "refusing",
      handle({ method }, next) {
        if (method === "PUT") throw new HttpError(403, "FORBIDDEN", "Not you.");
        return next();
      },
    };
    const replies = (reply: { status: number; body?: string; type?: string }): Plugin => ({
      name: "replies",
      handle: ({ headers }, next) =>
        headers.range === undefined
          ? next()
          : {
              ...emptyReply(reply.status, { "content-type": reply.type ?? "text/html" }),
              ...(reply.body && { body: reply.body }),
            },
    });

    const failures: readonly [string, string, Partial<FileServerConfig>, Partial<Thrown>][] = [
      ["a selector that is none", "li:first", {}, { status: 400, code: "INVALID_SELECTOR" }],
      ["no permission", "#a", { plugins: [refusing] }, { status: 403, code: "FORBIDDEN", details: "Not you." }],
      [
        "an error of a proxy",
        "#a",
        { plugins: [replies({ status: 502, body: "<h1>Bad" })] },
        { status: 502, code: "HTTP_ERROR", details: "Bad Gateway" },
      ],
      [
        "JSON that is no object",
        "#a",
        { plugins: [replies({ status: 500, body: "null", type: "application/json" })] },
        { code: "HTTP_ERROR" },
      ],
      [
        "a server that knows no selectors",
        "#a",
        { plugins: [replies({ status: 200, body: list })] },
        { status: 200, code: "RANGE_LOST" },
      ],
    ];

    it.each(sample(failures, 2))("%s", async (_what, selector, config, expected) => {
      const { page } = await opened(list, config);
      const thrown = await page.evaluate(async (given) => {
        const error = await client
          .connect()
          .select(given)
          .replace("<li>New</li>")
          .catch((thrown: unknown) => thrown);
        if (!(error instanceof client.PageError)) throw error;
        const { status, code, details, name, message } = error;
        return { status, code, details, name, message };
      }, selector);
      expect(thrown).toMatchObject({ name: "PageError", ...expected });
      expect(thrown.message).toBe(`${thrown.details} (${thrown.status} ${thrown.code})`);
    });

    it("a server that is gone", async () => {
      const { page, server } = await opened(list);
      server.close();
      server.closeAllConnections();
      const thrown = await page.evaluate(() =>
        client
          .connect()
          .select("#a")
          .get()
          .catch(({ status, code, cause }: Thrown & Error) => [status, code, String(cause)]),
      );
      expect(thrown).toEqual([0, "NETWORK", "TypeError: Failed to fetch"]);
    });
  });
});
