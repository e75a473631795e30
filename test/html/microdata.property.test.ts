import fc from "fast-check";
import { expect, it } from "vitest";
import { type MicrodataItem, readMicrodataPage } from "../../src/html/microdata.ts";
import { checks } from "../helpers/effort.ts";

interface Item {
  readonly types: readonly string[];
  readonly properties: readonly Property[];
}

interface Property {
  readonly names: readonly string[];
  readonly value: string | Item;
  /** How a text is written; ignored for items. */
  readonly element: "meta" | "link" | "data" | "time" | "span" | "pieces";
  /** Stands elsewhere in the page, and is referred to by `itemref`. */
  readonly isReferred: boolean;
  readonly noise: string;
}

const names = ["name", "path", "a:b", "ä", "constructor", "__proto__"];
const types = ["https://a.example/A", "https://a.example/b/B", "C"];
const blank = fc.stringMatching(/^[ \t\n\f]{1,3}$/);
// What surrounds the properties of real pages, well written or not; none of it closes a section.
const noise = fc.constantFrom(
  ...["", " ", "\n", "text", "<!-- <p itemprop=name>no</p> -->", "<div>", "<p>", "</p>", "</b>", "</table>", "<b>"],
  ...["<br>", "</main>", "<template><b itemprop=name>no</b></template>", "&amp;", "<ul><li>", "</em></i>"],
);
const text = fc.string({ unit: fc.constantFrom(..."ab é\u{1f600}\n\t<>&\"'=$/") });

const { item } = fc.letrec<{ item: Item; property: Property }>((tie) => ({
  item: fc.record({
    types: fc.uniqueArray(fc.constantFrom(...types), { maxLength: 2 }),
    properties: fc.array(tie("property"), { maxLength: 4, depthIdentifier: "items" }),
  }),
  property: fc.record({
    names: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
    value: fc.oneof({ depthIdentifier: "items", depthSize: "small", maxDepth: 4 }, text, tie("item")),
    element: fc.constantFrom("meta", "link", "data", "time", "span", "pieces"),
    isReferred: fc.boolean(),
    noise,
  }),
}));

const escaped = (value: string): string =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&#34;");

/** Writes items as a page. What is referred to stands at its end. */
function write(items: readonly Item[], space: string): string {
  const elsewhere: string[] = [];
  let ids = 0;

  const list = (words: readonly string[]): string => `"${space}${words.join(space)}${space}"`;
  const texts: Readonly<Record<Property["element"], (prop: string, value: string) => string>> = {
    meta: (prop, value) => `<meta ${prop} content="${value}">`,
    link: (prop, value) => `<link ${prop} href="${value}">`,
    data: (prop, value) => `<data ${prop} value="${value}">shown</data>`,
    time: (prop, value) => `<time datetime="${value}" ${prop}>shown</time>`,
    span: (prop, value) => `<span ${prop}>${value}</span>`,
    pieces: (prop, value) => `<span ${prop}><u></u><!--no--><u>${value}</u></span>`,
  };
  const writeItem = ({ types, properties }: Item, attributes: string): string => {
    const refs: string[] = [];
    const own: string[] = [];
    for (const { names, value, element, isReferred, noise } of properties) {
      const id = `i${ids++}`;
      const slot = isReferred ? elsewhere.push("") - 1 : undefined; // before those of its own parts
      const prop = `itemprop=${list(names)}${isReferred ? ` id=${id}` : ""}`;
      const html = noise + (typeof value === "string" ? texts[element](prop, escaped(value)) : writeItem(value, prop));
      if (slot === undefined) own.push(html);
      else {
        refs.push(id);
        elsewhere[slot] = html;
      }
    }
    const itemref = refs.length > 0 ? ` itemref=${list(refs)}` : "";
    return `<section itemscope itemtype=${list(types)} ${attributes}${itemref}>${own.join("")}</section>`;
  };
  const page = items.map((each) => writeItem(each, "")).join("");
  return `${page}${elsewhere.map((html) => `<section>${html}</section>`).join("")}`;
}

/** What should be read: a property that stands elsewhere comes after those that stand in the item. */
function expected({ types, properties }: Item): unknown {
  const values = new Map<string, unknown[]>();
  for (const { names, value } of properties.toSorted((a, b) => Number(a.isReferred) - Number(b.isReferred))) {
    for (const name of names)
      values.set(name, [...(values.get(name) ?? []), typeof value === "string" ? value : expected(value)]);
  }
  return { types, properties: values };
}

function withoutLines({ types, properties }: MicrodataItem): unknown {
  const values = [...properties].map(
    ([name, each]) =>
      [name, each.map(({ value }) => (typeof value === "string" ? value : withoutLines(value)))] as const,
  );
  return { types, properties: new Map(values) };
}

it("reads what was written, through references, several names and broken markup", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 3 }), blank, async (items, space) => {
      const { items: read, mistakes } = await readMicrodataPage(write(items, space));
      expect(mistakes).toEqual([]);
      expect(read.map(withoutLines)).toEqual(items.map(expected));
    }),
    checks({ seed: 11, numRuns: 500 }),
  );
});

it("never fails, whatever the page", async () => {
  const scrap = fc.constantFrom(
    ...["<p", ">", "</p>", "<table>", "<tr itemscope>", "<td itemprop=a>", "<b itemprop=a itemscope itemref='x y'>"],
    ...["<i id=x itemprop=a>", "<u id=y itemscope itemprop=b itemref=x>", "<form>", "<svg>", "<select>", "</body>"],
    ...["<template>", "</template>", "<a>", "</a>", "<!--", "-->", "x", "<html itemscope>", "<frameset>", "\0", "&#0;"],
  );
  await fc.assert(
    fc.asyncProperty(fc.array(scrap, { maxLength: 60 }), async (scraps) => {
      const { items, mistakes } = await readMicrodataPage(scraps.join(""));
      // No part of an item is the item itself: this ends.
      expect(items.map(withoutLines)).toHaveLength(items.length);
      expect(mistakes.every(({ line }) => line === 1)).toBe(true);
    }),
    checks({ seed: 12, numRuns: 1000 }),
  );
});
