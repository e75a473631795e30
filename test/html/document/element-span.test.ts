import { describe, expect, it } from "vitest";
import { elementSpan, endOfPage, isClosing } from "../../../src/html/document/element-span.ts";
import { type RootNode, SourceElement, type TreeNode } from "../../../src/html/document/html-nodes.ts";
import type { SourceDocument } from "../../../src/html/document/source-document.ts";
import { TreeWalk } from "../../../src/html/document/tree-walk.ts";
import { elementsOf } from "../../elements/pages.ts";
import { seededRandom, timeForMore, timesOf } from "../../helpers/effort.ts";
import { parseHtml } from "../../helpers/parse-html.ts";
import { malformedPage, pageOfTheme } from "../malformed-page.ts";
import { serialise } from "../reading.ts";

/** Source of every element of a name; `undefined` for one without a place of its own. */
async function spans(page: string, name: string): Promise<(string | undefined)[]> {
  const document = await parseHtml(page);
  return elementsOf(document)
    .filter((element) => element.name === name)
    .map((element) => elementSpan(element))
    .map((span) => span && page.slice(span.start, span.end));
}

describe("elementSpan", () => {
  it.each([
    ["an omitted end tag", "<ul><li>a<li>b</ul>", "li", ["<li>a", "<li>b"]],
    ["cells, rows without end tags", "<table><tr><td>1<td>2<tr><td>3</table>", "tr", ["<tr><td>1<td>2", "<tr><td>3"]],
    ["a paragraph closed by what follows", "<p>a<div>b</div>", "p", ["<p>a"]],
    ["a void element", "<p>a<br>b", "br", ["<br>"]],
    ["a self-closing foreign element", "<svg><path d='>'/><g/></svg>", "path", ["<path d='>'/>"]],
    ["one with the name of an element of HTML", "<math><frameset/>b</math>", "frameset", ["<frameset/>"]],
    [">, quotes, comments in values", "<a title='x>y' rel=\"<!--\">b</a>c", "a", ["<a title='x>y' rel=\"<!--\">b</a>"]],
    ["a script", "<script>a='</p>' // <\\/script></script>", "script", ["<script>a='</p>' // <\\/script></script>"]],
    ["comments and declarations around", "<!doctype html><!-- <b>x</b> --><b>y</b>", "b", ["<b>y</b>"]],
    ["upper case", "<DIV>a</DIV>", "div", ["<DIV>a</DIV>"]],
    ["white space in the end tag", "<b>a</b\n>c", "b", ["<b>a</b\n>"]],
    ["the end of the file", "<p>a", "p", ["<p>a"]],
    ["an unclosed element before </body>", "<body><p>a</body></html>\n", "p", ["<p>a"]],
    ["the body of a page that ends in white space", "<html><body>a</body>\n</html>\n", "body", ["<body>a</body>"]],
    ["an implied element", "<table><tr><td>1</table>", "tbody", [undefined]],
    ["mis-nested formatting", "<b>1<p>2</b>3</p>", "b", [undefined, undefined]],
    ["the second half of reopened formatting", "<p><b>1<p>2", "b", ["<b>1", undefined]],
    ["content moved out of a table", "<table><div>x</div><tr><td>1</table>", "table", [undefined]],
    ["what was moved out of a table", "<table><div>x</div><tr><td>1</table>", "div", ["<div>x</div>"]],
    ["text moved out of a table", "<table>x<tr><td>1</table>", "table", [undefined]],
    ["formatting that its end opens again", "<p><nobr>1<p><nobr>2", "nobr", ["<nobr>1", undefined, undefined]],
    ["one whose end opens formatting again", "<nobr><p><b></p><nobr>", "nobr", [undefined, undefined]],
    ["MathML that goes on behind </body>", "<math></body><!--c-->", "math", [undefined]],
    ["SVG that ends with </body>", "<svg><!--c--></body>", "svg", ["<svg><!--c-->"]],
    ["a form closed before its content ends", "<form><div></form>x</div>", "form", [undefined]],
    ["a form directly in a table", "<table><form><tr><td>1</form></table>", "form", ["<form>"]],
    ["a body with content behind it", "<body>a</body><p>b</p>", "body", [undefined]],
    ["a body with text behind it", "<body>a</body>b", "body", [undefined]],
  ])("it knows where an element stands: %s", async (_, page, name, expected) => {
    expect(await spans(page, name)).toEqual(expected);
  });
});

describe("the characters of an element in a malformed page", () => {
  it.each([
    ["made of anything", malformedPage, 43],
    ["about one thing", pageOfTheme, 44],
  ])(
    "are the element and nothing else, read where they stand: %s",
    { timeout: 300_000 },
    async (_, randomPage, seed) => {
      const random = seededRandom(seed);
      const usual = 75;
      const isTimeFor = timeForMore(usual);
      let count = 0;
      for (let page = 0; page < timesOf(usual, 20_000) && isTimeFor(page); page += 1) {
        const html = randomPage(random);
        const document = await parseHtml(html);
        for (const element of elementsOf(document)) {
          const span = elementSpan(element);
          if (!span || isPartOfPage.test(element.name) || document.formattedFromBefore.has(element)) continue;
          const before = await parseHtml(html.slice(0, span.start));
          const behind = await parseHtml(html.slice(0, span.end));
          const text = textOf(document, element);
          const isThere = elementsOf(behind).some(
            (each) => textOf(behind, each) === text && outline(behind.root, each) === outline(before.root),
          );
          count += 1;
          expect([html, html.slice(span.start, span.end), isThere]).toEqual([html, expect.anything(), true]);
        }
      }
      expect(count).toBeGreaterThan(125);
    },
  );

  it.each([
    ["formatting that begins before it", "<p><b>1<p>2", "p", [true, false]],
    ["formatting around it that ends in it", "<a><p></a></p>", "p", [false]],
    ["formatting that begins in it", "<div><b>1<p>2</b>3</p></div>", "div", [true]],
    ["formatting made again around it", "<p><i>1<p>2<b>3</b>", "b", [true]],
  ])("say all of it, or not: %s", async (_, page, name, expected) => {
    const document = await parseHtml(page);
    const named = elementsOf(document).filter((element) => element.name === name);
    expect(named.map((element) => !document.formattedFromBefore.has(element))).toEqual(expected);
  });
});

/** A frameset takes the `body` away with all that is in it. */
const isPartOfPage = /^(?:html|head|body|frameset)$/;

function textOf(document: SourceDocument, element: SourceElement): string {
  return serialise(document, element).replace(/\s+/g, "");
}

/** What a tree holds, without an element and what is implied around it. White space does not count. */
function outline(root: RootNode, without?: SourceElement): string {
  let left: TreeNode | undefined = without;
  for (let parent = left?.parent; parent && isImpliedAround(parent); parent = left?.parent) left = parent;
  const walk = new TreeWalk(root);
  const parts: string[] = [];
  for (let isInside = walk.advance(); isInside; ) {
    const { node, isAtEnd } = walk;
    if (node === left) {
      isInside = walk.skip();
      continue;
    }
    if (!(node instanceof SourceElement)) parts.push("data" in node ? node.data : node.type);
    else if (!/^(?:html|head|body|colgroup|tbody|tr)$/.test(node.name)) parts.push(isAtEnd ? "</>" : `<${node.name}>`);
    isInside = walk.advance();
  }
  return parts.join("").replace(/\s+/g, "");
}

function isImpliedAround(parent: TreeNode): boolean {
  const isPart = parent instanceof SourceElement && !isPartOfPage.test(parent.name);
  return isPart && parent.contentStart === -1 && parent.children.length === 1;
}

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
