import { describe, expect, it } from "vitest";
import { webSocket } from "../../src/plugins/web-socket.ts";
import { send } from "../helpers/send.ts";
import { windows } from "./chromium.ts";
import { openPage } from "./page-with.ts";

/** Whatever the module asks of an element or of the document. */
const ofElement = [
  ...["matches", "closest", "remove", "after", "insertBefore", "insertAdjacentHTML", "outerHTML", "cloneNode"],
  ...["childNodes", "getAttribute", "getAttributeNames", "getAttributeNode", "setAttributeNode", "removeAttribute"],
  ...["isEqualNode", "isConnected", "localName", "nodeName", "nodeType", "nodeValue", "id", "focus"],
  ...["parentElement", "previousElementSibling", "querySelectorAll", "constructor", "__proto__"],
];
const ofDocument = [
  ...["body", "title", "activeElement", "querySelectorAll", "importNode", "createElement", "documentElement"],
  ...["contains", "normalize", "cloneNode", "visibilityState", "addEventListener"],
];
const images = ofDocument.map((name) => `<img name="${name}" alt="">`).join("");
const inputs = ofElement.map((name) => `<input name="${name}">`).join("");
const body = `${images}<form class="f">${inputs}<p>one</p><ul></ul></form>`;

describe("a page whose names are those of the DOM", { tags: ["chromium"] }, () => {
  const browser = windows();

  it("is kept like its file", async () => {
    const { url, page } = await openPage(browser, body, undefined, { plugins: [webSocket()] });
    await page.evaluate(() => {
      client.connect().mirror((changes) => told.push(...changes));
    });
    const edit = (method: string, selector: string, html: string) =>
      send(url, method, "/page.html", { headers: { range: `selector=${selector}` }, body: html });
    expect((await edit("POST", "form ul", "<li>a</li>")).status).toBe(206);
    expect((await edit("PUT", "form p", "<p>two</p>")).status).toBe(206);
    expect((await edit("POST", "form", "<b>end</b>")).status).toBe(206);
    const html = (): Promise<string> =>
      page.evaluate(() => {
        const form = Document.prototype.querySelector.call(document, ".f") as Element;
        return String(Reflect.get(Element.prototype, "innerHTML", form)).replace(/<input[^>]*>/g, "");
      });
    await expect.poll(html).toBe("<p>two</p><ul><li>a</li></ul><b>end</b>");
  });

  it("has a selector for each of its elements, and stores them", async () => {
    const { page } = await openPage(browser, body);
    const stored = await page.evaluate(async () => {
      const form = Document.prototype.querySelector.call(document, ".f") as Element;
      const page = client.connect();
      const selector = page.selectorOf(form);
      const { html } = await page.select("body").append(form);
      return [selector, html.endsWith("</ul></form></body>")];
    });
    expect(stored).toEqual(["html > body > form:nth-of-type(1)", true]);
  });
});
