import { describe, expect, it } from "vitest";
import { parseHtml } from "../helpers/parse-html.ts";
import { offlineChromium } from "./chromium.ts";
import { elementsOf } from "./pages.ts";
import { richPages } from "./rich-page.ts";
import { selectorOver } from "./selected.ts";
import { acceptedSelectors, beyondChromium, refusedSelectors } from "./selector-lists.ts";

describe("odd selectors in Chromium", { tags: ["chromium"] }, () => {
  const browser = offlineChromium();

  it.each(["standards", "quirks"] as const)(
    "it takes the same ones, and they select the same elements in %s mode",
    async (mode) => {
      const document = await parseHtml(richPages[mode]);
      const page = await browser.open(Buffer.from(richPages[mode]));
      expect(elementsOf(document).map(({ name }) => name)).toEqual(await page.names());

      // What a user has typed is in the browser only.
      const selectors = [...acceptedSelectors, ...refusedSelectors].filter(
        (selector) => !/:(?:in|out-of)-range|:(?:in)?valid/.test(selector),
      );
      const expected = await page.select(selectors);
      const select = selectorOver(document);
      const wrong = selectors.filter(
        (selector, index) => JSON.stringify(select(selector)) !== JSON.stringify(expected[index]),
      );
      console.info(`${mode}: ${selectors.length - wrong.length} of ${selectors.length} as in Chromium`);
      expect(wrong).toEqual([]);
    },
  );

  it("it takes what the standard has and Chromium does not take yet", async () => {
    const document = await parseHtml("<p lang=en a=b>");
    const page = await browser.open(Buffer.from("<p lang=en a=b>"));
    expect(beyondChromium.map(selectorOver(document))).not.toContain("refused");
    expect(await page.select(beyondChromium)).toEqual(beyondChromium.map(() => "refused"));
  });
});
