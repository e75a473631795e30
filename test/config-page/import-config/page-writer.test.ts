import { expect, it } from "vitest";
import { PageWriter } from "../../../src/config-page/import-config/page-writer.ts";
import { readMicrodataPage } from "../../../src/html/microdata.ts";

it("writes what is read again, with comments that end where they should", async () => {
  const page = new PageWriter("Users");
  page.comment(1, "a -- b --> <b>");
  page.properties(1, [["title", "R & <i>D</i>"]], ' itemscope itemtype="x/Thing"');
  page.properties(1, []);
  expect(page.html).toContain("  <!-- a - - b - -› <b› -->\n");
  const { items, mistakes } = await readMicrodataPage(page.html);
  expect(mistakes).toEqual([]);
  expect(items.map(({ properties }) => properties.get("title")?.[0]?.value)).toEqual(["R & <i>D</i>"]);
});
