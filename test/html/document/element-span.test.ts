import { describe, expect, it } from "vitest";
import { elementSpan, hasEndTag, isTagOnly } from "../../../src/html/document/element-span.ts";
import { elementsOf } from "../../elements/pages.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

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
    [
      "cells and rows without end tags",
      "<table><tr><td>1<td>2<tr><td>3</table>",
      "tr",
      ["<tr><td>1<td>2", "<tr><td>3"],
    ],
    ["a paragraph closed by what follows", "<p>a<div>b</div>", "p", ["<p>a"]],
    ["a void element", "<p>a<br>b", "br", ["<br>"]],
    ["a self-closing foreign element", "<svg><path d='>'/><g/></svg>", "path", ["<path d='>'/>"]],
    [
      ">, quotes and comments in attributes",
      "<a title='x>y' rel=\"<!--\">b</a>c",
      "a",
      ["<a title='x>y' rel=\"<!--\">b</a>"],
    ],
    [
      "markup in a script",
      "<script>a='</p>' // <\\/script></script>",
      "script",
      ["<script>a='</p>' // <\\/script></script>"],
    ],
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
    ["a form closed before its content ends", "<form><div></form>x</div>", "form", [undefined]],
    ["a form directly in a table", "<table><form><tr><td>1</form></table>", "form", ["<form>"]],
    ["a body with content behind it", "<body>a</body><p>b</p>", "body", [undefined]],
    ["a body with text behind it", "<body>a</body>b", "body", [undefined]],
  ])("it knows where an element stands: %s", async (_, page, name, expected) => {
    expect(await spans(page, name)).toEqual(expected);
  });
});

describe("isTagOnly", () => {
  it("tells elements without content from those whose end tag is left out", async () => {
    const document = await parseHtml("<p>a<br><svg><g/><g></g></svg>");
    expect(
      elementsOf(document)
        .filter(isTagOnly)
        .map(({ name }) => name),
    ).toEqual(["br", "g"]);
  });
});

describe("hasEndTag", () => {
  it("knows whether the source has an end tag", async () => {
    const closed = async (source: string, name: string): Promise<boolean | undefined> => {
      const element = elementsOf(await parseHtml(source)).find((each) => each.name === name);
      return element && hasEndTag(element);
    };
    expect(await closed("<ul><li>a</li></ul>", "li")).toBe(true);
    expect(await closed("<ul><li>a</ul>", "li")).toBe(false);
    expect(await closed("<br>", "br")).toBe(false);
  });
});
