import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { describe, expect, it } from "vitest";
import { elementSpan } from "../../../src/html/document/element-span.ts";
import { parseSource } from "../../../src/html/document/parse-document.ts";
import { elementsOf, realPages } from "../../elements/pages.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";
import { done } from "../../helpers/done.ts";
import { sample } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { serialise } from "../reading.ts";

async function sourceOf(page: string | Uint8Array, name: string): Promise<string | undefined> {
  const document = await parseHtml(page);
  const element = elementsOf(document).find((each) => each.name === name);
  const span = element && elementSpan(element);
  return span && document.source.slice(span.start, span.end);
}

const hostileTexts = {
  CRLF: "<p>a\r\nb</p>\r\n\r\n<b\r\nid=x>c</b>",
  "lone CR": "<p>a\rb</p>\r<b\rid=x>c</b>",
  NUL: "<p>a\0b</p>\0<b \0id=x>c</b>",
  "astral characters": "<p title='\u{1f600}'>\u{1f600}</p>\u{1f600}<b \u{1f600}=x>c</b>",
  "a lone surrogate": "<p>\ufffd</p><b>c</b>",
  "character references": "<p>&amp;&lt;&notin;</p><b title='&lt;'>c</b>",
};

describe("parseHtml", () => {
  it.each(Object.entries(hostileTexts))("it finds elements behind %s", async (_, page) => {
    expect(await sourceOf(page, "b")).toBe(page.slice(page.indexOf("<b")));
  });

  it("builds the tree of the HTML Standard, with its positions, for real pages", async () => {
    for (const { name, bytes } of sample(realPages(), 4)) {
      const document = await parseHtml(bytes);
      const standard = standardElements(parse(document.source, { sourceCodeLocationInfo: true }));
      const own = elementsOf(document);
      const names = standard.map(({ tagName }) => tagName);
      expect([name, ...own.map((each) => each.name)]).toEqual([name, ...names]);
      const places = own.flatMap((element, index) => {
        const span = elementSpan(element);
        const location = standard[index]?.sourceCodeLocation;
        if (!span || !location?.endTag) return [];
        const { startOffset, endOffset, startTag, endTag } = location;
        const theirs = [startOffset, endOffset, startTag?.endOffset, endTag.startOffset];
        return [{ own: [span.start, span.end, span.contentStart, span.contentEnd].join(), theirs: theirs.join() }];
      });
      expect([name, ...places.filter((place) => place.own !== place.theirs)]).toEqual([name]);
    }
  });

  it("walks and serialises a tree of any depth without recursion", async () => {
    const document = await done(
      parseSource(
        "<i>".repeat(2000),
        { encoding: "utf8", hasByteOrderMark: false, kind: "html" },
        { maxDepth: 10_000 },
      ),
    );
    const [, , body] = elementsOf(document);
    expect(body && serialise(document, body).length).toBeGreaterThan(2000);
  });
});

function standardElements(document: DefaultTreeAdapterTypes.Document): DefaultTreeAdapterTypes.Element[] {
  const elements: DefaultTreeAdapterTypes.Element[] = [];
  const stack: DefaultTreeAdapterTypes.ChildNode[] = [...document.childNodes].reverse();
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (!("tagName" in node)) continue;
    elements.push(node);
    stack.push(...[...node.childNodes].reverse());
  }
  return elements;
}

describe("parseInSlices", () => {
  it("parses a token of many pieces in linear time: pieces grow, where those of one length would be 4,000", async () => {
    const clock = stepClock();
    await parseHtml(`<!--${"x".repeat(16_000_000)}`);
    expect(clock.looks).toBeLessThan(1000);
  });

  it.each([
    ["real markup", "<p class=a>some <b>words</b></p>\n".repeat(10_000)],
    ["one comment", `<!--${"x".repeat(8_000_000)}`],
    ["reopened formatting", Array.from({ length: 200 }, (_, i) => `<p><font size=${i}>`).join("")],
  ])("gives way to others whenever it looks at the clock and the slice is over: %s", async (_, source) => {
    stepClock(5);
    expect(await turnsUntil(Promise.resolve(parseHtml(Buffer.from(source))))).toBeGreaterThan(100);
  });

  it("parses a document of one piece in one go", async () => {
    stepClock();
    let turns = 0;
    const count = setImmediate(() => {
      turns += 1;
    });
    await parseHtml("<p>small");
    expect(turns).toBe(0);
    clearImmediate(count);
  });
});
