import { afterAll, describe, expect, it } from "vitest";
import { sample } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { browserPaths } from "./browser-paths.ts";
import { elementsOf, realPages } from "./pages.ts";
import { selectorOver } from "./selected.ts";

const paths = { full: { asked: 0, exact: 0 }, short: { asked: 0, exact: 0 } };
const pages = { elements: 0, withBytes: 0 };

afterAll(() => {
  const { full, short } = paths;
  console.info(
    `${pages.withBytes} of ${pages.elements} elements have bytes of their own; exactly the one that was meant: ` +
      `${full.exact} of ${full.asked} paths from the root, ${short.exact} of ${short.asked} from an id`,
  );
});

describe("the elements of real pages", () => {
  it.each(sample(realPages(), 4))("it selects each by its path in a browser: $name", async ({ bytes }) => {
    const document = await parseHtml(bytes);
    const select = selectorOver(document);
    const expected = browserPaths(document.source);
    expect(elementsOf(document).map(({ name }) => name)).toEqual(expected.map(({ element }) => element.tagName));

    const wrong: string[] = [];
    const ask = (kind: "full" | "short", selector: string, element: number): void => {
      const found = select(selector);
      const isExact = found.length === 1 && found[0] === element;
      paths[kind].asked += 1;
      if (isExact) paths[kind].exact += 1;
      else wrong.push(`${selector} selects ${found.length}`);
    };
    for (const [index, { full, short, hasBytes }] of expected.entries()) {
      pages.elements += 1;
      if (!hasBytes) continue;
      pages.withBytes += 1;
      ask("full", full, index);
      if (short !== undefined) ask("short", short, index);
    }
    expect(wrong).toEqual([]);
  });
});
