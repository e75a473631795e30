import { describe, expect, it } from "vitest";
import { sample } from "../helpers/effort.ts";
import { send } from "../helpers/send.ts";
import { type Window, windows } from "./chromium.ts";
import { openPage } from "./page-with.ts";

describe("selectorOf", { tags: ["chromium"] }, () => {
  const browser = windows();

  const opened = (body: string) => openPage(browser, body, ["selector-of"]);

  const selectorOfFirst = ({ page }: Window, selector: string): Promise<string> =>
    page.evaluate((given) => {
      const element = document.querySelector(given);
      return element ? parts["selector-of"].selectorOf(element) : "there is none";
    }, selector);

  const elements: ReadonlyArray<[string, string, string, string]> = [
    ["an id that is no name in CSS", '<p id="1 größe.">', "p", "#\\31 \\ größe\\."],
    ["the way from the nearest id", '<ul id="a"><li>1<li>2<ol>', "ol", "#a > li:nth-of-type(2) > ol:nth-of-type(1)"],
    ["nothing of a shared id", '<p id="a"><p id="a" class="x">', ".x", "html > body > p:nth-of-type(2)"],
    ["nothing of an empty id", '<p id="">', "p", "html > body > p:nth-of-type(1)"],
    ["the root by its name", "", "html", "html"],
  ];

  it.each(sample(elements, 3))("gives %s", async (_what, body, selector, expected) => {
    expect(await selectorOfFirst(await opened(body), selector)).toBe(expected);
  });

  it("does not count what is not in the file", async () => {
    const window = await opened('<p>1</p><p class="x">2</p>');
    await window.page.evaluate(() => document.body.insertAdjacentHTML("afterbegin", "<p data-local>0</p>"));
    expect(await selectorOfFirst(window, ".x")).toBe("html > body > p:nth-child(2 of p:not([data-local]))");
  });

  it("names the same element where the file itself has some with the mark", { tags: ["campaign"] }, async () => {
    const body = '<ul><li data-local>a<li>b<li data-local>c<li class="x">d<li>e</ul>';
    const window = await opened(body);
    await window.page.evaluate(() =>
      document.querySelector("ul")?.insertAdjacentHTML("afterbegin", "<li data-local>0"),
    );
    const selector = await selectorOfFirst(window, ".x");
    const answer = await send(window.url, "GET", "/page.html", { headers: { range: `selector=${selector}` } });
    expect([answer.headers["x-selector-matches"], answer.text]).toEqual(["1", '<li class="x">d']);
  });

  it("refuses an element that is not in the file", async () => {
    const { page } = await opened("<p data-local><b>");
    const errors = await page.evaluate(() =>
      [document.querySelector("b"), document.createElement("i")].map((element) => {
        try {
          return parts["selector-of"].selectorOf(element as Element);
        } catch (error) {
          return String(error);
        }
      }),
    );
    expect(errors).toEqual(Array(2).fill("TypeError: not in the file"));
  });

  it("selects just that element on the server, for each element of a page with all sorts of them", async () => {
    const body = `<main><h1 id="a">1</h1><p>2<b>3</b></p><p>4<p><em>5</em><em>6</em></main>
      <table><tr><td>7<td>8<tr><td id="9">9</table><p id="a">10<div><div><div>11</div></div><svg><g><circle r="1"/>
      <foreignObject><p>12</p></foreignObject><circle r="2"/></g></svg><o:x>13</o:x></div><select><option>14<option>15</select>`;
    const { page, url } = await opened(body);
    const found = await page.evaluate(() =>
      [...document.body.querySelectorAll("*")].map((element) => [
        parts["selector-of"].selectorOf(element),
        element.textContent,
      ]),
    );
    expect(found.length).toBeGreaterThan(25);
    for (const [selector = "", text = ""] of found as string[][]) {
      const headers = { range: `selector=${selector}` };
      const answer = await send(url, "GET", "/page.html", { headers });
      expect([selector, answer.headers["x-selector-matches"]]).toEqual([selector, "1"]);
      expect([selector, answer.text.replace(/<[^>]*>/g, "")]).toEqual([selector, text]);
    }
  });
});
