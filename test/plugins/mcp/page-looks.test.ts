import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { elementsBelow } from "../../../src/html/document/html-nodes.ts";
import { parseDocument } from "../../../src/html/document/parse-document.ts";
import { compileSelector, selection } from "../../../src/html/selector/select.ts";
import { selectorsIn } from "../../../src/plugins/mcp/page-looks.ts";

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
      const selectorOf = selectorsIn({ document, isReadable });
      for (const element of elementsBelow(document.root)) {
        const found = atOnce(selection(document, compileSelector(selectorOf(element))));
        expect(found).toEqual([element]);
      }
    }
  });

  it("tells ids of elements around it only where they may be told", () => {
    const document = atOnce(parseDocument("html", Buffer.from("<div id=a><p>1"), {}));
    const paragraph = [...elementsBelow(document.root)].find(({ name }) => name === "p");
    const told = [true, false].map((isReadable) => paragraph && selectorsIn({ document, isReadable })(paragraph));
    expect(told).toEqual(["#a > p", "html > body > div > p"]);
  });
});
