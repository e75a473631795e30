import { describe, expect, it } from "vitest";
import { atOnce, inSlices } from "../../../src/event-loop/sliced-work.ts";
import { elementsBelow } from "../../../src/html/document/html-nodes.ts";
import { parseDocument } from "../../../src/html/document/parse-document.ts";
import { compileSelector, selection } from "../../../src/html/selector/select.ts";
import { elementsOf, findIn, nearestTo, outlineOf, selectorsIn } from "../../../src/plugins/mcp/page-looks.ts";
import type { InspectedPage } from "../../../src/server/inspection.ts";
import { endless } from "../../helpers/counted-work.ts";

const pages: readonly (readonly [string, "html" | "xml", string])[] = [
  ["lists", "html", "<ul id=a><li>1<li>2<li id=b>3</ul><ul><li>4</ul>"],
  ["an id that occurs twice", "html", "<p id=a>1<p id=a>2<div id=c><p>3</div>"],
  ["ids that are no names", "html", `<p id="1"><b id='a"b\\c'></b><i id="a b">x</i>`],
  ["a template", "html", "<template><p id=a>1</p></template><p id=a>2</p>"],
  ["svg and html of one name", "html", "<div><a>1</a><svg><a>2</a><a>3</a></svg><a>4</a></div>"],
  ["names with a colon", "xml", '<r xmlns:x="urn:x"><x:a>1</x:a><x:a>2</x:a><b/></r>'],
];

describe("the selector of an element", () => {
  it.each(pages)("selects just it: %s", (_what, kind, source) => {
    const document = atOnce(parseDocument(kind, Buffer.from(source), {}));
    for (const isReadable of [true, false]) {
      const selectorOf = atOnce(selectorsIn({ document, isReadable }));
      for (const element of elementsBelow(document.root)) {
        const found = atOnce(selection(document, compileSelector(atOnce(selectorOf(element)))));
        expect(found).toEqual([element]);
      }
    }
  });

  it("tells ids of elements around it only where they may be told", () => {
    const document = atOnce(parseDocument("html", Buffer.from("<div id=a><p>1"), {}));
    const paragraph = [...elementsBelow(document.root)].find(({ name }) => name === "p");
    const selectorIn = (isReadable: boolean) => atOnce(selectorsIn({ document, isReadable }));
    const told = [true, false].map((isReadable) => paragraph && atOnce(selectorIn(isReadable)(paragraph)));
    expect(told).toEqual(["#a > p", "html > body > div > p"]);
  });
});

/** A page as a request finds it whose client may read all of it. */
function inspected(source: string, selector: string): InspectedPage {
  const document = atOnce(parseDocument("html", Buffer.from(source), {}));
  const find = (wanted: string) => atOnce(selection(document, compileSelector(wanted), { maxMatches: 1e6 }));
  const asked = { mayRead: async () => true, tagOf: async () => "", find: async (wanted: string) => find(wanted) };
  return { document, etag: "", matches: find(selector), isReadable: true, ...asked };
}

describe("a look at a page", () => {
  it("finds a text that begins in one element and ends in another, regardless of case and white space", () => {
    const page = inspected("<div><p>a <b>\nİ</b><i> c\n</i> d</p><p>I C</div>", "div, p, b");
    const [first, second] = ["html > body > div > p:nth-child(1)", "html > body > div > p:nth-child(2)"];
    const found = [
      { selector: first, text: "a İ c d" },
      { selector: first, text: "a İ c d" },
      { selector: second, text: "I C" },
    ];
    expect(atOnce(findIn(page, " i  C", 9))).toEqual(found);
    expect(atOnce(findIn(page, " i  C", 1))).toEqual(found.slice(0, 1));
    expect(atOnce(findIn(page, "dI", 9))).toEqual([{ selector: "html > body > div", text: "a İ c dI C" }]);
  });

  it("reads each text once, however deep it is, and counts siblings once, however many there are", async () => {
    const deep = inspected(`${"<div>".repeat(500)}${endless("<p>one two three")}`, "div");
    expect(atOnce(findIn(deep, "two three", 40))).toHaveLength(40);
    expect(atOnce(findIn(deep, "nowhere", 40))).toEqual([]);
    expect(atOnce(outlineOf(deep))).toEqual({ etag: "", outline: "" });
    const flat = inspected(endless("<br>"), "br");
    const { elements } = (await inSlices(elementsOf(flat, 0, 100_000))) as { elements: readonly object[] };
    expect(elements.at(-1)).toMatchObject({ selector: "html > body > br:nth-child(2808)", html: "<br>" });
    const likely = await inSlices(nearestTo(inspected(`<p class="long ${endless("a")} abcdef">`, "i"), ".abcdeg"));
    expect(likely).toEqual({ etag: "", matches: 0, near: [{ selector: ".abcdef", matches: 1 }] });
  });
});
