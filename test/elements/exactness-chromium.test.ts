import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseHtml } from "../../src/html/document/html-document.ts";
import { browserPaths } from "./browser-paths.ts";
import { hasChromium, OfflineChromium } from "./chromium.ts";
import { featureSelectors } from "./feature-selectors.ts";
import { elementsOf, realPages, seededRandom } from "./pages.ts";
import { selectorOver } from "./selected.ts";

/** Which pages and elements a run looks at; the same seed gives the same run. */
const seed = Number(process.env["FILEMENT_SEED"] ?? Date.now() % 1_000_000);
const pagesPerRun = Number(process.env["FILEMENT_PAGES"] ?? 30);
const pathsPerPage = 40;
const random = seededRandom(seed);
const pages = some(realPages(), pagesPerRun);
const asked = { selectors: 0, exact: 0, matches: 0 };
let browser: OfflineChromium;

if (!hasChromium)
  console.warn("There is no Chromium here (Debian: apt-get install chromium): nothing to compare with.");

beforeAll(async () => {
  if (hasChromium) browser = await OfflineChromium.launch();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  console.info(
    `FILEMENT_SEED=${seed}: ${asked.exact} of ${asked.selectors} selectors on ${pages.length} pages ` +
      `give the elements that Chromium gives (${asked.matches} matches)`,
  );
});

function some<Item>(items: readonly Item[], count: number): Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
}

describe("the elements of real pages in Chromium", () => {
  it.skipIf(!hasChromium).each(pages)(
    "it selects just these, in this order: $name",
    { timeout: 60_000 },
    async ({ bytes }) => {
      const document = await parseHtml(bytes);
      const select = selectorOver(document);
      const page = await browser.open(bytes);
      expect(elementsOf(document).map(({ name }) => name)).toEqual(await page.names());

      const paths = some(browserPaths(document.source), pathsPerPage).flatMap(({ full, short }) => [
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
    },
  );
});
