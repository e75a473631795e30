import { describe, expect, it } from "vitest";
import { edit } from "./editing.ts";

describe("deleteElements", () => {
  it.each([
    ["every match", "<i>a</i>-<i>b</i>\r\n", "i", "-\r\n"],
    ["the outermost of nested matches", "a<div>b<div>c</div></div>d", "div", "ad"],
    ["elements without end tags", "<ul><li>a<li>b<li>c</ul>", "li:nth-child(2)", "<ul><li>a<li>c</ul>"],
    ["the last of them", "<ul><li>a<li>b</ul>", "li:last-child", "<ul><li>a</ul>"],
    ["all of them", "<ul><li>a<li>b</ul>", "li", "<ul></ul>"],
    ["one before white space", "<ul><li>a<li>b</li>\n<li>c</ul>", "li:nth-child(2)", "<ul><li>a</li>\n<li>c</ul>"],
    ["a block that closed the paragraph before it", "<p>a<div>b</div>c", "div", "<p>a</p>c"],
    ["several behind an open one", "<ul><li>a<li class=x>b<li class=x>c</li>\n</ul>", ".x", "<ul><li>a</li>\n</ul>"],
    ["rows of an implied tbody", "<table><tr><td>1<tr><td>2</table>", "tr:first-child", "<table><tr><td>2</table>"],
    ["a void element", "a<br>b", "br", "ab"],
    ["a comment's neighbour, not the comment", "<!--<p>x</p>--><p>y</p>", "p", "<!--<p>x</p>-->"],
    ["the last thing before the end of the page", "<p>a</body></html>\n", "p", "</body></html>\n"],
    ["every second of several", "<ul><li>a<li>b<li>c<li>d</ul>", "li:nth-child(even)", "<ul><li>a<li>c</ul>"],
    ["the last element of a page", "<p>a</p>\n<i>b</i></body>\n", "i", "<p>a</p>\n</body>\n"],
    ["the last element in an open one", "<p>a\n<i>b</i>\n</body>\n", "i", "<p>a\n\n</body>\n"],
    ["an element between two texts", "a<i>b</i>c", "i", "ac"],
    ["a paragraph that closed another", "<p>a<p class=x>b</p>c", ".x", "<p>a</p>c"],
    ["an element and the block behind its parent", "<p>a<b class=x>b</b><div class=x>c</div>d", ".x", "<p>a</p>d"],
    ["what kept a line end in a pre", "<pre><b>x</b>\r\ny</pre>", "b", "<pre>\n\r\ny</pre>"],
    ["the title of a page without tags", "<title>t</title>\n<p>a", "title", "\n<p>a"],
    ["a caption", "<table><caption>c</caption><tr><td>1</table>", "caption", "<table><tr><td>1</table>"],
  ])("removes %s", async (_, before, selector, after) => {
    const { status, body, page, headers } = await edit(before, "DELETE", selector);
    expect([status, body, page, headers.get("x-selector-matches") !== "0"]).toEqual([204, "", after, true]);
  });

  it("tells removed from not found, and announces only the former", async () => {
    const removed = await edit("<p>a</p>", "DELETE", "p");
    expect([removed.headers.get("x-selector-matches"), removed.changes]).toEqual([
      "1",
      ["elements-deleted p 1 undefined"],
    ]);
    const missing = await edit("<p>a</p>", "DELETE", "table");
    expect([missing.status, missing.headers.get("x-selector-matches"), missing.changes]).toEqual([204, "0", []]);
  });

  it.each([
    ["that holds the end tag of another one", "<b><p id=i>1</b></p>tail", "p", "<body><b></b>tail</body>"],
    ["that keeps text from becoming a reference", "&am<b>x</b>p;", "b", "<body>&amp;amp;</body>"],
    ["without tags", "<table><tr><td>1</table>x", "tbody", "<body><table></table>x</body>"],
    ["in front of what would be a byte order mark", "<p>a</p>\ufeffb", "p", "<body>\ufeffb</body>"],
    ["that a comment stands behind in an implied body", "<p>a</p><!--c-->", "p", "<body><!--c--></body>"],
  ])("puts a page in order to remove an element %s", async (_, before, selector, after) => {
    const { status, headers, page } = await edit(before, "DELETE", selector);
    expect([status, headers.get("x-normalised")]).toEqual([204, "true"]);
    expect(page).toBe(`<html><head></head>${after}</html>`);
  });

  it("refuses what cannot be removed from a page that cannot be put in order", async () => {
    const before = "<form><div></form><form>x</form></div><table><tr></table>";
    const { status, body, page } = await edit(before, "DELETE", "tbody");
    expect([status, JSON.parse(body).code, page]).toEqual([400, "INVALID_TARGET", before]);
  });

  it.each(["html", "head", "body", "*"])("refuses to remove %s, also where it is implied", async (selector) => {
    expect((await edit("a", "DELETE", selector)).status).toBe(400);
    const before = "<html><head></head><body><p>a</p></body></html>";
    const { status, body, page } = await edit(before, "DELETE", selector);
    expect([status, JSON.parse(body).code, page]).toEqual([400, "INVALID_TARGET", before]);
  });
});
