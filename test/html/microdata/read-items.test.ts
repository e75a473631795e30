import { expect, it } from "vitest";
import { readPage } from "../../../src/html/microdata/microdata-page.ts";
import { readItems } from "../../../src/html/microdata/read-items.ts";
import type { MicrodataPage } from "../../../src/html/microdata.ts";

async function read(html: string): Promise<MicrodataPage> {
  const reading = readItems(await readPage(html));
  let step = reading.next();
  while (!step.done) step = reading.next();
  return step.value;
}

it("reads an item that is a property in two places once", async () => {
  const { items } = await read(
    "<p itemscope itemref=a></p><p itemscope itemref=a></p><p id=a itemprop=x itemscope></p>",
  );
  const [first, second] = items.map(({ properties }) => properties.get("x")?.[0]?.value);
  expect(first).toMatchObject({ line: 1 });
  expect(first).toBe(second);
});

it("tells of all mistakes in the order of the lines", async () => {
  const html = "<b itemprop=a>\n<p itemscope itemref=x>\n<td itemscope>\n<b itemtype=t>";
  expect((await read(html)).mistakes.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
});

it("reads nothing of items that are only parts of each other, and says so", async () => {
  const { items, mistakes } = await read(
    "<p id=a itemprop=x itemscope itemref=b></p>\n<p id=b itemprop=x itemscope itemref=a></p>",
  );
  expect(items).toEqual([]);
  expect(mistakes.map(({ text }) => text)).toEqual(Array(2).fill('itemprop="x" belongs to no item'));
});
