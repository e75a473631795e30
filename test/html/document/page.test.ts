import { describe, expect, it } from "vitest";
import { TextNode } from "../../../src/html/document/html-nodes.ts";
import { endOfPage, isClosing, pageElements, textOnPage } from "../../../src/html/document/page.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

async function names(page: string): Promise<string[]> {
  return Object.keys(pageElements((await parseHtml(page)).root));
}

describe("pageElements", () => {
  it("finds what every page has, implied or not", async () => {
    expect(await names("")).toEqual(["html", "head", "body"]);
    expect(await names("<!--c--><!doctype html><html><head></head><body></body></html>")).toEqual([
      "html",
      "head",
      "body",
    ]);
  });

  it("finds no body beside a frameset", async () => {
    expect(await names("<frameset></frameset>")).toEqual(["html", "head"]);
  });
});

describe("endOfPage", () => {
  it.each([
    ["<p>a</body></html>\n", 4],
    ["<p>a</html>", 4],
    ["<p>a</body><!-- x --!>\n</html><!---><!-->", 4],
    ["<p>a</body>b</html>", 19],
    ["<p>a", 4],
    ["<table></body>\n", 15],
    ["<frameset></frameset>\n", 22],
  ])("of %j is %i", async (page, end) => {
    expect(endOfPage(await parseHtml(page))).toBe(end);
  });
});

describe("isClosing", () => {
  it("takes end tags of the page, white space and comments for nothing", () => {
    expect(isClosing("a</body> <!--b--></html>\n", 1, 25)).toBe(true);
    expect(isClosing("</body>a", 0, 8)).toBe(false);
    expect(isClosing("</body>a", 0, 7)).toBe(true);
  });

  it("looks at an attack once: for each of its beginnings, it would not end", () => {
    expect(isClosing(`</body>${"<!--".repeat(500_000)}`, 0, 2_000_007)).toBe(false);
  });
});

describe("textOnPage", () => {
  it("is without the white space behind the end of the page", () => {
    const textIn = (source: string, data: string, end: number): string =>
      textOnPage(Object.assign(new TextNode(data), { startIndex: 0, endIndex: source.length - 1 }), end, source);
    expect(textIn("a</body> \n", "a \n", 1)).toBe("a");
    expect(textIn("a \n", "a \n", 30)).toBe("a \n");
    expect(textIn("a\n</body>\n</html>\n", "a\n\n\n", 2)).toBe("a\n");
    expect(textIn("a\r\n</body>\r\n", "a\n\n", 3)).toBe("a\n");
    expect(textIn("a&amp;\n</body>\n", "a&\n\n", 7)).toBe("a&"); // nobody knows how much of it stands before
  });
});
