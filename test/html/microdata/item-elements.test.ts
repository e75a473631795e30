import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { ItemElements, tokens } from "../../../src/html/microdata/item-elements.ts";
import { type MicrodataMistake, readPage } from "../../../src/html/microdata/microdata-page.ts";
import { done } from "../../helpers/done.ts";

/** The ids of the elements that are the properties of `#item`. */
async function propertiesOf(html: string): Promise<{ ids: unknown[]; mistakes: MicrodataMistake[] }> {
  const page = await done(readPage(html));
  const mistakes: MicrodataMistake[] = [];
  const root = page.ids.get("item");
  const elements = root ? atOnce(new ItemElements(page, mistakes).of(root)) : [];
  return { ids: elements.map((element) => element.attribs["id"]), mistakes };
}

describe("ItemElements", () => {
  it("finds properties below others, but not those of an item below", async () => {
    const html = `<div id=item itemscope><p id=a itemprop=x><b id=b itemprop=y></b></p>
      <p id=c itemprop=x itemscope><b id=d itemprop=y></b></p><p itemscope><b id=e itemprop=y></b></p></div>
      <p id=f itemprop=x></p>`;
    expect(await propertiesOf(html)).toEqual({ ids: ["a", "b", "c"], mistakes: [] });
  });

  it("sorts what references lead to into the order of the page", async () => {
    const html = `<p id=c itemprop=x></p><p id=a itemprop=x></p><div id=item itemscope itemref="a b c"><p id=d itemprop=x></p></div>
      <div id=b><p id=e itemprop=x></p></div>`;
    expect(await propertiesOf(html)).toEqual({ ids: ["c", "a", "d", "e"], mistakes: [] });
  });

  it("takes the first of several elements with an id", async () => {
    const html = "<div id=item itemscope itemref=a></div><p id=a itemprop=x></p><p id=a itemprop=x></p>";
    expect((await propertiesOf(html)).ids).toEqual(["a"]);
  });

  it.each([
    ["itself", "<p id=item itemscope itemref=item>", []],
    ["what it holds", "<p id=item itemscope itemref=a><b id=a itemprop=x></b></p>", ["a"]],
    ["what holds it", "<div id=a itemprop=x><p id=item itemscope itemref=a></p></div>", ["a"]],
    ["one thing in two ways", "<p id=item itemscope itemref='a b'></p><div id=a><b id=b itemprop=x></b></div>", ["b"]],
  ])("takes an element once when an item refers to %s", async (_what, html, ids) => {
    const found = await propertiesOf(html);
    expect(found.ids).toEqual(ids);
    expect(found.mistakes).toHaveLength(1);
  });
});

it("splits at the white space of HTML only, and takes each word once", () => {
  expect(tokens("\t b\na\f\r\nb ")).toEqual(["b", "a"]);
  expect(tokens("a\u00a0b\u2003c")).toEqual(["a\u00a0b\u2003c"]);
  expect(tokens(undefined)).toEqual([]);
});
