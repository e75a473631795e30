import { describe, expect, it } from "vitest";
import { edit } from "./editing.ts";

describe("replaceElements", () => {
  it.each([
    ["every match", "<i>a</i>-<i>b</i>\r\n", "i", "<b>c</b>", "<b>c</b>-<b>c</b>\r\n"],
    ["the outermost of nested matches", "<div>a<div>b</div></div>c", "div", "<p>x</p>", "<p>x</p>c"],
    [
      "only the element, behind a byte order mark",
      "\ufeff<p>a</p>\r\n<p>b</p>",
      "p:last-child",
      "x",
      "\ufeff<p>a</p>\r\nx",
    ],
    ["with several elements", "<p>a</p>", "p", "<p>b</p>\n<p>c</p>", "<p>b</p>\n<p>c</p>"],
    [
      "one of elements without end tags",
      "<ul><li>a<li>b<li>c</ul>",
      "li:nth-child(2)",
      "<li>x",
      "<ul><li>a<li>x</li><li>c</ul>",
    ],
    [
      "with text that must not join the element before",
      "<ul><li>a<li>b</ul>",
      "li:last-child",
      "x",
      "<ul><li>a</li>x</ul>",
    ],
    [
      "cells of an implied tbody",
      "<table><tr><td>1<td>2</table>",
      "td",
      "<th>x",
      "<table><tr><th>x</th><th>x</th></table>",
    ],
    [
      "an element among comments and scripts",
      "<!--<p>--><script>'<p>'</script><p>a</p>",
      "p",
      "b",
      "<!--<p>--><script>'<p>'</script>b",
    ],
    ["foreign elements", "<svg><g/><path/></svg>", "path", "<circle r=1 />", "<svg><g/><circle r=1 /></svg>"],
    ["the body", "<body class=a>x</body>", "body", "<body class=b>y</body>", "<body class=b>y</body>"],
    [
      "the whole page",
      "<html><p>a</html>",
      "html",
      "<html lang=de><body>b</body></html>",
      "<html lang=de><body>b</body></html>",
    ],
  ])("replaces %s", async (_, before, selector, html, after) => {
    const { status, page } = await edit(before, "PUT", selector, html);
    expect([status, page]).toEqual([206, after]);
  });

  it("answers what stands there now, and announces the change once", async () => {
    const { body, headers, changes } = await edit("<i>a</i><i>b</i>", "PUT", "i", "<p>x");
    expect(body).toBe("<p>x</p><p>x</p>");
    expect([headers.get("x-selector-matches"), headers.get("content-range")]).toEqual(["2", "selector i"]);
    expect(changes).toEqual(["elements-replaced i 2 <p>x"]);
  });

  it.each([
    ["blank HTML", "<p>a</p>", "p", " \n", "INVALID_HTML"],
    ["an unclosed element", "<p>a</p>", "p", "<div>", "INVALID_HTML"],
    ["a row where no row can stand", "<div>a</div>", "div", "<tr><td>b", "INVALID_HTML"],
    ["a div in place of a row", "<table><tr><td>a</table>", "tr", "<div>b</div>", "INVALID_HTML"],
    ["something else in place of the body", "<body>a</body>", "body", "<p>b</p>", "INVALID_TARGET"],
    ["two bodies in place of one", "<body>a</body>", "body", "<body>b</body><body>c</body>", "INVALID_TARGET"],
    ["an implied element", "<table><tr><td>a</table>", "tbody", "<tbody></tbody>", "INVALID_TARGET"],
  ])("refuses %s and changes nothing", async (_, before, selector, html, code) => {
    const { status, body, page, changes } = await edit(before, "PUT", selector, html);
    expect([status, JSON.parse(body).code, page, changes]).toEqual([400, code, before, []]);
  });

  it("answers 204 where nothing matches, whatever was sent", async () => {
    const { status, headers, changes } = await edit("<p>a</p>", "PUT", "table", "<not well-formed");
    expect([status, headers.get("x-selector-matches"), changes]).toEqual([204, "0", []]);
  });

  it("keeps the bytes of a document that is not UTF-8, and takes only ASCII into it", async () => {
    const before = Buffer.concat([Buffer.from("<i>a</i>"), Buffer.from([0xe9, 0xff])]);
    expect((await edit(before, "PUT", "i", "<b>b</b>")).page).toBe(
      Buffer.concat([Buffer.from("<b>b</b>"), Buffer.from([0xe9, 0xff])]).toString(),
    );
    expect((await edit(before, "PUT", "i", "é")).status).toBe(422);
  });
});
