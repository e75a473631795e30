import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom, timesOf } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { dump } from "../html/html5lib.ts";
import { malformedPage } from "../html/malformed-page.ts";
import { OfflineChromium } from "./chromium.ts";

/** Between the parts of a table in a template Chromium makes a form, which the standard leaves out. Selectors do not search templates. */
const formInTemplate = /<template>.*<form/s;
const pagesAtOnce = 50;
const count = timesOf(50, 2000);

describe("the trees of malformed pages in Chromium", { tags: ["chromium"] }, () => {
  let browser: OfflineChromium;

  beforeAll(async () => {
    browser = await OfflineChromium.launch();
  });

  afterAll(() => browser.close());

  it(`are those of ${count} pages here`, { timeout: 300_000 }, async () => {
    const random = seededRandom(41);
    const page = await browser.open(Buffer.from("<!doctype html>"));
    for (let done = 0; done < count; done += pagesAtOnce) {
      const pages = Array.from({ length: pagesAtOnce }, () => malformedPage(random)).filter(
        (html) => !formInTemplate.test(html),
      );
      const expected = await page.trees(pages);
      const found = await Promise.all(pages.map(async (html) => dump((await parseHtml(html)).root)));
      const wrong = pages.flatMap((html, index) =>
        found[index] === expected[index] ? [] : [{ html, here: found[index], inChromium: expected[index] }],
      );
      expect(wrong).toEqual([]);
    }
  });
});
