import { describe, expect, it } from "vitest";
import {
  allItems,
  isOfType,
  MicrodataError,
  type MicrodataItem,
  type MicrodataPage,
  readMicrodataPage,
  typeNames,
} from "../../src/html/microdata.ts";
import { turnsUntil } from "../helpers/counted-work.ts";
import { timesOf } from "../helpers/effort.ts";

/** An item without lines, to be compared at a glance. */
function plain(item: MicrodataItem): Record<string, unknown> {
  const entries = [...item.properties].map(([name, values]) => [
    name,
    values.map(({ value }) => (typeof value === "string" ? value : plain(value))),
  ]);
  return Object.fromEntries(entries);
}

async function itemsOf(html: string): Promise<readonly MicrodataItem[]> {
  return (await readMicrodataPage(html)).items;
}

async function read(html: string): Promise<Record<string, unknown>[]> {
  return (await itemsOf(html)).map(plain);
}

describe("the items of a page", () => {
  it("reads items with types, id, properties and lines", async () => {
    const html = `<!doctype html>
<main itemscope itemtype="https://a.example/Plugin
  https://b.example/Thing https://a.example/Plugin" itemid="urn:x:1">
  <p itemprop="name">limit</p>
  <div
    itemprop="part" itemscope>
    <b itemprop="name">inner</b>
  </div>
</main>`;
    expect(await itemsOf(html)).toEqual([
      {
        types: ["https://a.example/Plugin", "https://b.example/Thing"],
        id: "urn:x:1",
        line: 2,
        properties: new Map([
          ["name", [{ value: "limit", line: 4 }]],
          [
            "part",
            [
              {
                value: { types: [], line: 5, properties: new Map([["name", [{ value: "inner", line: 7 }]]]) },
                line: 5,
              },
            ],
          ],
        ]),
      },
    ]);
  });

  it("gives one value to several names, and several values to one name in the order of the page", async () => {
    expect(
      await read(`<p itemscope><b itemprop=" a\n b\ta">1</b><i><b itemprop=b>2</b></i><b itemprop=a>3</b>`),
    ).toEqual([{ a: ["1", "3"], b: ["1", "2"] }]);
  });

  it("counts any line end as one line", async () => {
    const html = "<p>\r\n<p>\n<p itemscope>\r\n<b itemprop=a>x</b>";
    const [item] = await itemsOf(html);
    expect(item?.line).toBe(3);
    expect(item?.properties.get("a")?.[0]?.line).toBe(4);
  });

  it("does not take an item that is a property for a top-level one", async () => {
    expect(await read("<div itemscope><p itemprop=a itemscope><b itemprop=x>1</b></p><p itemscope></p></div>")).toEqual(
      [{ a: [{ x: ["1"] }] }, {}],
    );
    expect(await read("<p itemprop=a itemscope>")).toEqual([]);
  });

  it("does not look at templates and comments", async () => {
    expect(
      await read("<template><p itemscope></p></template><!--<p itemscope>--><p itemscope><template><b itemprop=a>1"),
    ).toEqual([{}]);
  });

  it("follows itemref, in the order of the page", async () => {
    const html = `<p id=z><b itemprop=a>before</b><p itemscope itemref=" y\nz "><b itemprop=a>own</b><p id=y itemprop=a>after`;
    expect(await read(html)).toEqual([{ a: ["before", "own", "after"] }]);
  });

  it("gives two items the same part", async () => {
    const part = "<p id=x itemprop=part itemscope><b itemprop=name>n</b></p>";
    const items = await itemsOf(`<p itemscope itemref=x></p><p itemscope itemref=x></p>${part}`);
    expect(items.map(plain)).toEqual([{ part: [{ name: ["n"] }] }, { part: [{ name: ["n"] }] }]);
    expect(allItems(items)).toHaveLength(3);
  });

  it("leaves out what would make an item its own part", async () => {
    const html = `<p itemscope itemref=a></p>
<p id=a itemprop=next itemscope itemref=b><b itemprop=name>A</b></p>
<p id=b itemprop=next itemscope itemref=a><b itemprop=name>B</b></p>`;
    expect(await read(html)).toEqual([{ next: [{ name: ["A"], next: [{ name: ["B"] }] }] }]);
    expect(await read("<div id=x><p itemscope itemref=x><b itemprop=a>1</b></p></div>")).toEqual([{ a: ["1"] }]);
  });

  it("follows chains of items that are as long as the page", async () => {
    const length = timesOf(5_000);
    const links = Array.from({ length }, (_, i) => `<p id=i${i} itemprop=next itemscope itemref=i${i + 1}></p>`);
    const items = await itemsOf(`<p itemscope itemref=i0></p>${links.join("")}`);
    expect(allItems(items)).toHaveLength(length + 1);
  });

  it.each([
    ["elements in elements", "<div>".repeat(20_000)],
    ["end tags of elements that are not there", "<span>".repeat(20_000) + "</foo>".repeat(20_000)],
    ["formatting", Array.from({ length: 20_000 }, (_, i) => `<p><font size=${i}>`).join("")],
    ["attributes", `<p ${Array.from({ length: 50_000 }, (_, i) => `a${i}`).join(" ")}>`],
    ["references", `<div id=a>${"<b></b>".repeat(2_000)}</div>${"<p itemscope itemref=a>".repeat(2_000)}`],
    [
      "properties in properties",
      `<p itemscope>${"<span itemprop=a>".repeat(500)}${"twenty-four characters, <b></b>".repeat(20_000)}</span></p>`,
    ],
  ])("refuses a page with too many %s", async (_what, html) => {
    await expect(itemsOf(html)).rejects.toThrow(MicrodataError);
  });
});

describe("readMicrodataPage", () => {
  it("reads the same, and gives way to others meanwhile", async () => {
    const html = "<p itemscope><b itemprop=a>1</b></p>\n".repeat(3000);
    let page: MicrodataPage | undefined;
    const turns = await turnsUntil(
      readMicrodataPage(html).then((read) => {
        page = read;
      }),
    );
    expect(page?.items).toHaveLength(3000);
    expect(page?.mistakes).toEqual([]);
    expect(turns).toBeGreaterThan(3);
  });

  it("throws for what it cannot read to its end, with the line", async () => {
    const error = await readMicrodataPage(`\n\n${"<div>".repeat(600)}`).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MicrodataError);
    expect(error).toMatchObject({ line: 3, message: "the page nests elements more than 512 levels deep" });
  });

  it.each([
    ["<p>\n<b itemprop='a b'>x", 2, 'itemprop="a b" belongs to no item'],
    ["<p itemscope itemprop=''>", 1, 'itemprop="" belongs to no item'],
    ["<p itemtype=http://x/Credential>", 1, "itemtype is of no effect without itemscope"],
    ["\n<p itemscope itemref='x'>", 2, 'itemref names "x", which is the id of no element'],
    [
      "<div id=x><p itemscope itemref=x><b itemprop=a>1",
      1,
      "itemref leads to <p> of line 1 that belongs to the item already",
    ],
    ["<p itemscope itemref=a></p>\n<p id=a itemprop=x itemscope itemref=a>", 2, "itemref leads to <p> of line 2"],
    [
      "<p itemscope itemref=a></p>\n<p id=a itemprop=x itemscope itemref=b></p>\n<p id=b itemprop=x itemscope itemref=a>",
      2,
      "an itemref makes this item a part of itself",
    ],
    [
      "<div>\n<tr itemscope><td>x</div>",
      2,
      "the tag <tr> has microdata attributes, but HTML allows no such element where it stands",
    ],
    ["<svg>\n<g itemscope></g></svg>", 2, "the tag <g> has microdata attributes"],
  ])("finds the mistake in %j", async (html, line, text) => {
    const { mistakes } = await readMicrodataPage(html);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]?.line).toBe(line);
    expect(mistakes[0]?.text).toContain(text);
  });

  it("does not mind attributes that a second html or body tag adds to the first", async () => {
    const { items, mistakes } = await readMicrodataPage("text\n<body itemscope>\n<html itemscope><b itemprop=a>1");
    expect(mistakes).toEqual([]);
    expect(items.map(({ line }) => line)).toEqual([3, 2]);
  });
});

describe("types", () => {
  const item = (type: string): MicrodataItem => ({ types: type.split(" "), line: 1, properties: new Map() });

  it.each([
    ["https://example.org/schema/Credential", ["Credential"]],
    ["Credential", ["Credential"]],
    ["https://a.example/A?x=/B#/C urn:x/D", ["A", "D"]],
    ["https://a.example/", [""]],
  ])("are told by their last segment: %s", (type, names) => {
    expect(typeNames(item(type))).toEqual(names);
  });

  it("differ by case", () => {
    expect(isOfType(item("http://a.example/x http://a.example/Credential"), "Credential")).toBe(true);
    expect(isOfType(item("http://a.example/credential"), "Credential")).toBe(false);
    expect(isOfType(item("http://a.example/Credential/x"), "Credential")).toBe(false);
  });
});

it("finds all items by line, each once", async () => {
  const html = `<div itemscope itemtype=x/A>\n<p itemprop="a b" itemscope itemtype=x/B></p>\n<p itemscope itemtype=x/C></p></div>`;
  expect(allItems(await itemsOf(html)).flatMap(typeNames)).toEqual(["A", "B", "C"]);
});

it("reads an item that is a property in two places once", async () => {
  const { items } = await readMicrodataPage(
    "<p itemscope itemref=a></p><p itemscope itemref=a></p><p id=a itemprop=x itemscope></p>",
  );
  const [first, second] = items.map(({ properties }) => properties.get("x")?.[0]?.value);
  expect(first).toMatchObject({ line: 1 });
  expect(first).toBe(second);
});

it("tells of all mistakes in the order of the lines", async () => {
  const html = "<b itemprop=a>\n<p itemscope itemref=x>\n<td itemscope>\n<b itemtype=t>";
  expect((await readMicrodataPage(html)).mistakes.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
});

it("reads nothing of items that are only parts of each other, and says so", async () => {
  const { items, mistakes } = await readMicrodataPage(
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
