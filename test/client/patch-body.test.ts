import { describe, expect, it } from "vitest";
import { type Window, windows } from "./chromium.ts";
import { openPage } from "./page-with.ts";

/** What the pages of these tests have in their window. */
declare global {
  /** Brings the document to the next version of its body. */
  var patchTo: (body: string) => void;
}

// That applyChange and patchBody together give what the server has, apply-change.test.ts shows with random edits.
describe("patchBody", { tags: ["chromium"] }, () => {
  const browser = windows();

  /** A page that was brought up to date once, after a script has done something to it. */
  async function opened(body: string, script: () => void = () => {}): Promise<Window> {
    const window = await openPage(browser, body, ["patch-body"]);
    await window.page.evaluate(script);
    await window.page.evaluate((first) => {
      const parse = (html: string): Document => new DOMParser().parseFromString(html, "text/html");
      const patchBody = parts["patch-body"].bodyPatcher();
      let before = parse(first);
      patchBody(undefined, before);
      globalThis.patchTo = (html) => {
        const after = parse(html);
        patchBody(before, after);
        before = after;
      };
    }, body);
    return window;
  }

  const bodyOf = ({ page }: Window): Promise<string> => page.evaluate(() => document.body.innerHTML.trim());

  it("keeps the elements that stay, so that a click, a selection and a playing video do not notice", async () => {
    const window = await opened("<ul><li>a</li><li>b</li><li>c</li></ul><p>x</p>");
    const kept = await window.page.evaluate(() => {
      const noted = [...document.querySelectorAll("ul, li, p")];
      patchTo("<h1>new</h1><ul><li>0</li><li>a</li><li>c</li><li>d</li></ul><p>y</p>");
      const now = [...document.querySelectorAll("ul, li, p")];
      return now.map((element) => noted.indexOf(element));
    });
    expect(await bodyOf(window)).toBe("<h1>new</h1><ul><li>0</li><li>a</li><li>c</li><li>d</li></ul><p>y</p>");
    expect(kept).toEqual([0, 2, 1, 3, -1, 4]); // one `li` has another text now
  });

  it("knows elements by their ids, wherever among their siblings they are now", { tags: ["campaign"] }, async () => {
    const window = await opened('<i id="a">a</i><i id="b">b</i><i id="c">c</i>');
    const kept = await window.page.evaluate(() => {
      const noted = [...document.querySelectorAll("i")];
      patchTo('<i id="c">C</i><i id="x">x</i><i id="a">a</i><b id="b">b</b>');
      return [...document.querySelectorAll("i, b")].map((element) => noted.indexOf(element as HTMLElement));
    });
    expect(await bodyOf(window)).toBe('<i id="c">C</i><i id="x">x</i><i id="a">a</i><b id="b">b</b>');
    expect(kept).toEqual([2, -1, 0, -1]);
  });

  it("keeps focus, caret and what was typed", async () => {
    const window = await opened('<ul><li id="a"><input id="f"></li><li id="b">b</li></ul>');
    await window.page.focus("#f");
    await window.page.keyboard.type("hello");
    await window.page.keyboard.press("ArrowLeft");
    const state = await window.page.evaluate(() => {
      patchTo('<p>1</p><ul><li id="b">b</li><li id="a" class="x">text <input id="f" class="y" value="new"></li></ul>');
      const { id, value, selectionStart, className } = document.activeElement as HTMLInputElement;
      return [id, value, selectionStart, className];
    });
    expect(state).toEqual(["f", "hello", 4, "y"]);
  });

  it("leaves alone what is marked as the browser's own, and what scripts add later", async () => {
    const window = await opened("<ul><li>a</li><li>b</li></ul>", () => {
      for (const item of document.querySelectorAll("li"))
        item.insertAdjacentHTML("beforeend", "<button data-local>x</button>");
    });
    await window.page.evaluate(() => {
      document.body.insertAdjacentHTML("afterbegin", "<aside>later</aside>");
      document.querySelector("ul")?.insertAdjacentHTML("beforeend", "<li>later</li>");
      patchTo("<h1>new</h1><ul><li>A</li><li>b</li><li>c</li></ul>");
    });
    expect(await bodyOf(window)).toBe(
      '<aside>later</aside><h1>new</h1><ul><li>A<button data-local="">x</button></li><li>b<button data-local="">x</button></li>' +
        "<li>c</li><li>later</li></ul>",
    );
  });

  it("leaves alone what scripts have done to a part that is the same in the file", { tags: ["campaign"] }, async () => {
    const window = await opened('<details><summary>s</summary>d</details><p class="p">text</p><ul><li>a</li></ul>');
    await window.page.evaluate(() => {
      document.querySelector("details")?.setAttribute("open", "");
      document.querySelector("p")?.setAttribute("title", "t");
      document.querySelector("p")?.replaceChildren("other");
      patchTo('<details><summary>s</summary>d</details><p class="q">text</p><ul><li>b</li></ul>');
    });
    expect(await bodyOf(window)).toBe(
      '<details open=""><summary>s</summary>d</details><p class="q" title="t">other</p><ul><li>b</li></ul>',
    );
  });

  it("makes an element like the file where the file has changed it, whatever scripts have made of it", async () => {
    const window = await opened("<ul><li>a</li><li>b</li><li>c</li></ul>");
    await window.page.evaluate(() => {
      document.querySelector("li")?.remove();
      patchTo("<ul><li>a</li><li>b</li><li>c</li><li>d</li></ul>");
    });
    expect(await bodyOf(window)).toBe("<ul><li>a</li><li>b</li><li>c</li><li>d</li></ul>");
  });

  it("makes the body like the file the first time, but for what is marked as the browser's own", async () => {
    const window = await opened('<p class="a">1</p><p>2</p>', () => {
      document.body.className = "scripted";
      document.body.insertAdjacentHTML("beforeend", "<i>not in the file</i><b data-local>local</b>");
      document.querySelector("p")?.setAttribute("class", "b");
    });
    expect(await bodyOf(window)).toBe('<p class="a">1</p><p>2</p><b data-local="">local</b>');
    expect(await window.page.evaluate(() => document.body.className)).toBe("scripted");
  });

  it("has fields show their new value, also when somebody has used them before", async () => {
    const window = await opened('<input value="a"><input type="checkbox"><textarea>t</textarea>');
    await window.page.fill("input", "typed");
    await window.page.fill("textarea", "typed");
    await window.page.check("[type=checkbox]");
    await window.page.uncheck("[type=checkbox]");
    const state = await window.page.evaluate(() => {
      (document.activeElement as HTMLElement).blur();
      patchTo('<input value="b"><input type="checkbox" checked><textarea>u</textarea>');
      return [...document.querySelectorAll("input, textarea")].map((field) => {
        const { type, checked, value } = field as HTMLInputElement;
        return type === "checkbox" ? checked : value;
      });
    });
    expect(state).toEqual(["b", true, "u"]);
  });

  it("runs no script that comes into the page", async () => {
    const window = await opened("<p>1</p><script>globalThis.runs = (globalThis.runs ?? 0) + 1</script>");
    await window.page.evaluate(() => {
      patchTo("<p>1</p><script>globalThis.runs = 10</script><div><script>globalThis.runs = 20</script></div>");
    });
    expect(await bodyOf(window)).toContain("20");
    expect(await window.page.evaluate(() => (globalThis as { runs?: number }).runs)).toBe(1);
  });

  it("moves as few elements as it can, so that no frame loads again beside one that moves", async () => {
    const window = await opened("<ul><li>a</li><li><iframe></iframe></li><li>c</li><li>d</li></ul>");
    const moved = await window.page.evaluate(() => {
      const observer = new MutationObserver(() => {});
      observer.observe(document.body, { childList: true, subtree: true });
      patchTo("<ul><li><iframe></iframe></li><li>c</li><li>d</li><li>a</li></ul>");
      patchTo("<ul><li>a</li><li><iframe></iframe></li><li>d</li><li>c</li></ul>");
      return observer.takeRecords().flatMap(({ addedNodes }) => [...addedNodes].map(({ textContent }) => textContent));
    });
    expect(moved).toEqual(["a", "a", "d"]);
    expect(await bodyOf(window)).toBe("<ul><li>a</li><li><iframe></iframe></li><li>d</li><li>c</li></ul>");
    const isSame = await window.page.evaluate(() => {
      const shown = (): unknown => document.querySelector("iframe")?.contentWindow;
      const before = shown();
      patchTo("<ul><li>a</li><li>d</li><li>c</li><li><iframe></iframe></li></ul>");
      return shown() === before;
    });
    expect(isSame).toBe(true);
  });

  it("gives the page the title of the file with its white space, and none where the file has none", async () => {
    const window = await opened("<p>1</p>");
    const titles = await window.page.evaluate(() => {
      const title = (): string | undefined => document.querySelector("title")?.text;
      patchTo("<title>\n  Two\n  lines </title><p>1</p>");
      const written = title();
      patchTo("<p>2</p>");
      return [written, title()];
    });
    expect(titles).toEqual(["\n  Two\n  lines ", undefined]);
  });
});
