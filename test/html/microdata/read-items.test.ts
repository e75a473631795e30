import { expect, it } from "vitest";
import { readPage } from "../../../src/html/microdata/microdata-page.ts";
import { readItems } from "../../../src/html/microdata/read-items.ts";
import { type MicrodataPage, readMicrodataPage } from "../../../src/html/microdata.ts";
import { done } from "../../helpers/done.ts";

async function read(html: string): Promise<MicrodataPage> {
  return done(readItems(await done(readPage(html))));
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

const readValue = async (html: string): Promise<unknown> => {
  const { items } = await readMicrodataPage(`<div itemscope>${html}</div>`);
  return items[0]?.properties.get("a")?.map(({ value }) => value);
};

it.each([
  [`<meta itemprop=a content=" x ">`, " x "],
  ["<meta itemprop=a>", ""],
  ["<audio itemprop=a src=../x>no</audio>", "../x"],
  ["<embed itemprop=a src=x>", "x"],
  ["<iframe itemprop=a src=x>no</iframe>", "x"],
  ["<img itemprop=a src='a b?&amp;'>", "a b?&"],
  ["<source itemprop=a src=x>", "x"],
  ["<track itemprop=a src=x>", "x"],
  ["<video itemprop=a src=x></video>", "x"],
  ["<video itemprop=a poster=x></video>", ""],
  ["<a itemprop=a href=./x>no</a>", "./x"],
  ["<a itemprop=a>no</a>", ""],
  ["<area itemprop=a href=x>", "x"],
  ["<link itemprop=a href=file://./x>", "file://./x"],
  ["<object itemprop=a data=x>no</object>", "x"],
  ["<data itemprop=a value=x>no</data>", "x"],
  ["<meter itemprop=a value=0.5>no</meter>", "0.5"],
  ["<time itemprop=a datetime=2030-01-02>no</time>", "2030-01-02"],
  ["<time itemprop=a datetime>no</time>", ""],
  ["<time itemprop=a><b>2030</b>-01</time>", "2030-01"],
  ["<code itemprop=a> x\n<b>y</b><!--no--><b><i>z</i></b>&lt; </code>", " x\ny" + "z< "],
  ["<script itemprop=a>x < y</script>", "x < y"],
  ["<textarea itemprop=a>\n<b></textarea>", "<b>"],
  ["<template itemprop=a>no</template>", ""],
  ["<p itemprop=a content=no value=no href=no></p>", ""],
  ["<div itemprop=a>x<div itemprop=b>y</div></div>", "xy"],
])("takes the value of %s from where the standard says", async (html, value) => {
  expect(await readValue(html)).toEqual([value]);
});

it("takes an item for the value before any attribute", async () => {
  expect(await readValue("<a itemprop=a href=x itemscope>")).toEqual([{ types: [], line: 1, properties: new Map() }]);
});
