import { afterAll, describe, expect, it } from "vitest";
import { sample, seededRandom, suiteSeed, timesOf } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { browserPaths } from "./browser-paths.ts";
import { offlineChromium } from "./chromium.ts";
import { featureSelectors } from "./feature-selectors.ts";
import { elementsOf, realPages } from "./pages.ts";
import { selectorOver } from "./selected.ts";

const pathsPerPage = timesOf(20, 40);
const pages = sample(realPages(), 8);
const asked = { selectors: 0, exact: 0, matches: 0 };

afterAll(() => {
  console.info(
    `FILEMENT_SEED=${suiteSeed}: ${asked.exact} of ${asked.selectors} selectors on ${pages.length} pages ` +
      `give the elements that Chromium gives (${asked.matches} matches)`,
  );
});

function some<Item>(items: readonly Item[], count: number, seed: number): Item[] {
  const random = seededRandom(seed);
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
}

describe("the elements of real pages in Chromium", { tags: ["chromium"] }, () => {
  const browser = offlineChromium();

  it.each(pages)("it selects just these, in this order: $name", async ({ bytes, number }) => {
    const document = await parseHtml(bytes);
    const select = selectorOver(document);
    const page = await browser.open(bytes);
    expect(elementsOf(document).map(({ name }) => name)).toEqual(await page.names());

    const paths = some(browserPaths(document.source), pathsPerPage, number).flatMap(({ full, short }) => [
      full,
      short ?? full,
    ]);
    const selectors = [...paths, ...featureSelectors];
    const expected = await page.select(selectors);
    const wrong: string[] = [];
    for (const [index, selector] of selectors.entries()) {
      const selected = select(selector);
      const isExact = JSON.stringify(selected) === JSON.stringify(expected[index]);
      asked.selectors += 1;
      asked.matches += selected.length;
      if (isExact) asked.exact += 1;
      else wrong.push(`${selector}: ${expected[index]?.length} in Chromium, ${selected.length} here`);
    }
    expect(wrong).toEqual([]);
  });
});
