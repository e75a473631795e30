import { describe, expect, it } from "vitest";
import { edit } from "./editing.ts";

describe("deleteElements", () => {
  it.each([
    ["every match", "<i>a</i>-<i>b</i>\r\n", "i", "-\r\n"],
    ["the outermost of nested matches", "a<div>b<div>c</div></div>d", "div", "ad"],
    ["elements without end tags", "<ul><li>a<li>b<li>c</ul>", "li:nth-child(2)", "<ul><li>a<li>c</ul>"],
    ["the last of them", "<ul><li>a<li>b</ul>", "li:last-child", "<ul><li>a</ul>"],
    ["all of them", "<ul><li>a<li>b</ul>", "li", "<ul></ul>"],
    [
      "one whose place the white space behind it must not leave",
      "<ul><li>a<li>b</li>\n<li>c</ul>",
      "li:nth-child(2)",
      "<ul><li>a</li>\n<li>c</ul>",
    ],
    ["a block that closed the paragraph before it", "<p>a<div>b</div>c", "div", "<p>a</p>c"],
    [
      "several in a row behind an open one",
      "<ul><li>a<li class=x>b<li class=x>c</li>\n</ul>",
      ".x",
      "<ul><li>a</li>\n</ul>",
    ],
    ["rows of an implied tbody", "<table><tr><td>1<tr><td>2</table>", "tr:first-child", "<table><tr><td>2</table>"],
    ["a void element", "a<br>b", "br", "ab"],
    ["a comment's neighbour, not the comment", "<!--<p>x</p>--><p>y</p>", "p", "<!--<p>x</p>-->"],
    ["the last thing before the end of the page", "<p>a</body></html>\n", "p", "</body></html>\n"],
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

  it.each(["html", "head", "body", "*"])("refuses to remove %s", async (selector) => {
    const before = "<html><head></head><body><p>a</p></body></html>";
    const { status, body, page } = await edit(before, "DELETE", selector);
    expect([status, JSON.parse(body).code, page]).toEqual([400, "INVALID_TARGET", before]);
  });
});
