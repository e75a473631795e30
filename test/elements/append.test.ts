import { describe, expect, it } from "vitest";
import { edit, send, serveOne, wholePage } from "./editing.ts";

describe("appendToElements", () => {
  it.each([
    ["before the end tag", "<p>a</p>\n", "p", "<b>x</b>", "<p>a<b>x</b></p>\n"],
    ["to every match, nested ones too", "<div>a<div>b</div></div>", "div", "x", "<div>a<div>bx</div>x</div>"],
    ["where the end tag is left out", "<ul><li>a<li>b</ul>", "li", "<i>x</i>", "<ul><li>a<i>x</i><li>b<i>x</i></ul>"],
    ["behind a child whose end tag is left out", "<ul><li>a</ul>", "ul", "<b>x</b>", "<ul><li>a</li><b>x</b></ul>"],
    ["a sibling that closes the last child itself", "<ul><li>a</ul>", "ul", "<li>b", "<ul><li>a<li>b</li></ul>"],
    ["to a list and its items at once", "<ul><li>a</ul>", "ul, li", "x", "<ul><li>ax</li>x</ul>"],
    ["a row to a table", "<table><tr><td>1</table>", "table", "<tr>", "<table><tr><td>1<tr></tr></table>"],
    ["to a body", "<body><p>a</body></html>\n", "body", "<p>b</p>", "<body><p>a<p>b</p></body></html>\n"],
    ["to a usual body", "<html>\n<body>\na\n</body>\n</html>", "body", "b", "<html>\n<body>\na\nb</body>\n</html>"],
    ["to a body with content behind it", "<body>a</body>b\n", "body", "<i>c</i>", "<body>a</body>b\n<i>c</i>"],
    ["to an implied body", "<p>a</p>\n", "body", "<p>b</p>", "<p>a</p>\n<p>b</p>"],
    ["to a body of end tags", "<p>a</p></body></html>\n", "body", "<p>b</p>", "<p>a</p><p>b</p></body></html>\n"],
    ["to html, in its body", "<html><body>a</body></html>", "html", "<b>b</b>", "<html><body>a<b>b</b></body></html>"],
    ["to an implied head", "<!doctype html>\n<p>a", "head", "<base>", "<!doctype html>\n<base><p>a"],
    ["to a head without tags", "<title>t</title><p>a", "head", "<base>", "<title>t</title><base><p>a"],
    ["to a head", "<head><title>t</title></head>", "head", "<base>", "<head><title>t</title><base></head>"],
    ["to an empty file", "", "body", "<p>a</p>", "<p>a</p>"],
    ["to a template", "<template></template>", "template", "<tr><td>b", "<template><tr><td>b</td></tr></template>"],
    ["to a self-closing foreign element", "<svg><g/></svg>", "g", "<path/>", "<svg><g><path/></g></svg>"],
    ["text to a script", "<script>a('<p>')</script>", "script", ";b(1<2)", "<script>a('<p>');b(1<2)</script>"],
    ["text to a title", "<title>a</title>", "title", " & <b>", "<title>a & <b></title>"],
    ["behind attributes that contain >", "<p title='a>b'>c</p>", "p", "x", "<p title='a>b'>cx</p>"],
    ["behind astral text", "<p>\u{1f600}<!--</p>--></p>", "p", "\u{1f601}", "<p>\u{1f600}<!--</p>-->\u{1f601}</p>"],
    ["behind an unclosed element", "<body><b>x</body>", "body", "<p>y</p>", "<body><b>x</b><p>y</p></body>"],
    ["to an unclosed element", "<p><b>x<p>y", "p:first-child b", "z", "<p><b>xz<p>y"],
    ["that begins with a line end to an empty pre", "<pre></pre>", "pre", "\nx", "<pre>\n\nx</pre>"],
    ["to a select", "<select><option>1</select>", "select", "<hr>", "<select><option>1<hr></select>"],
    ["to an option", "<select><option>1</select>", "option", "<b>2</b>", "<select><option>1<b>2</b></select>"],
    ["among CRLF", "<p>\r\na\r\n</p>\r\n", "p", "b", "<p>\r\na\r\nb</p>\r\n"],
    ["behind NUL", "<p>a\0b</p>\0", "p", "c", "<p>a\0bc</p>\0"],
    ["a comment to a table", "<table><tr></table>", "table", "<!--c-->", "<table><tr></tr></tbody><!--c--></table>"],
    ...["<style>a</style>", "<script>a</script>", "<template></template>", "<form></form>"].flatMap((html) => [
      [`${html} to a table of rows`, "<table><tr></table>", "table", html, `<table><tr></tr></tbody>${html}</table>`],
      [`${html} behind a tbody`, "<table><tbody></table>", "table", html, `<table><tbody></tbody>${html}</table>`],
    ]),
    [
      "a template to columns",
      "<table><col></table>",
      "table",
      "<template></template>",
      "<table><col></colgroup><template></template></table>",
    ],
  ])("adds content %s", async (_, before, selector, html, after) => {
    const { status, page } = await edit(before, "POST", selector, html);
    expect([status, page]).toEqual([206, after]);
  });

  it("answers the updated matches and announces the change once", async () => {
    const { body, headers, changes } = await edit("<p>a</p>-<p>b</p>", "POST", "p", "<i>x</i>");
    expect(body).toBe("<p>a<i>x</i></p><p>b<i>x</i></p>");
    expect(headers.get("x-selector-matches")).toBe("2");
    expect(changes).toEqual(["elements-appended p 2 <i>x</i>"]);
  });

  it.each([
    ["a void element", "<p>a<br></p>", "br", "x", "INVALID_HTML"],
    ["a paragraph in a paragraph", "<p>a</p>", "p", "<p>b</p>", "INVALID_HTML"],
    ["stray end tags", "<p>a</p>", "p", "</p>", "INVALID_HTML"],
    ["the end of a script", "<script>a</script>", "script", "x</SCRIPT >", "INVALID_HTML"],
    ["a block in a paragraph", "<p id=x>para</p>", "p", "<div>d</div>", "INVALID_HTML"],
    ["a link in a link", "<a>1<i>2</i></a>", "i", "<a>3</a>", "INVALID_HTML"],
    ["a button in a button", "<button>1</button>", "button", "<button>2</button>", "INVALID_HTML"],
    ["a heading in a heading", "<h1>1</h1>", "h1", "<h2>2</h2>", "INVALID_HTML"],
    ["a block in a table", "<table><tbody><tr></tbody></table>", "tbody", "<div>d</div>", "INVALID_HTML"],
    ["text in a table", "<table><tr><td>1</table>", "table", "x", "INVALID_HTML"],
    ["text in a row", "<table><tr><td>1</table>", "tr", "x", "INVALID_HTML"],
    ["a void element, and nothing to add", "<br>", "br", "", "INVALID_HTML"],
    ["a comment that would end a script late", "<script>a</script>b", "script", "<!--<script>", "INVALID_HTML"],
    ["NUL", "<p>a</p>", "p", "\0", "INVALID_HTML"],
    ["what swallows the rest of the page", "<p>a</p>b", "p", "<plaintext>", "INVALID_HTML"],
  ])("refuses %s and changes nothing", async (_, before, selector, html, code) => {
    const { status, body, page, changes } = await edit(before, "POST", selector, html);
    expect([status, JSON.parse(body).code, page, changes]).toEqual([400, code, before, []]);
  });

  it.each(["", " \r\n"])("takes blank content for nothing: %j", async (html) => {
    const { status, body, page, headers, changes } = await edit("<p>a</p>\n", "POST", "p", html);
    expect([status, body, page, changes]).toEqual([206, "<p>a</p>", "<p>a</p>\n", []]);
    expect(headers.get("etag")).toMatch(/^"elements:/);
  });

  it.each([
    [
      "an implied element",
      "<table><tr><td>1</table>",
      "tbody",
      "<tr><td>2",
      "<tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody>",
    ],
    ["mis-nested formatting", "<b>1<p>2</b>3</p>", "b", "x", "<b>1x</b><b>2x</b>"],
  ])("puts a page in order for %s, and says so", async (_, before, selector, html, answer) => {
    const { status, body, headers, page } = await edit(before, "POST", selector, html);
    expect([status, headers.get("x-normalised"), body]).toEqual([206, "true", answer]);
    expect(page).toMatch(/^<html><head><\/head><body>/);
  });

  it("says where the fragment does not fit", async () => {
    const { body } = await edit("<p>a</p>", "POST", "p", "x\n<div>d</div>");
    expect(JSON.parse(body).details).toBe(
      "The supplied HTML is not valid: <div> cannot stand there in <p>; a browser would move, split or drop it (line 2, column 1).",
    );
  });

  it("lets 200 concurrent additions to one page all land", async () => {
    const files = serveOne("<ul id=a></ul><ul id=b></ul>");
    const numbers = Array.from({ length: 200 }, (_, index) => index);
    const replies = await Promise.all(
      numbers.map((number) => send(files, "POST", number % 2 ? "#a" : "#b", `<li>item-${number}</li>`)),
    );
    expect(replies.every(({ status }) => status === 206)).toBe(true);
    const page = (await wholePage(files)).toString();
    const items = [...page.matchAll(/item-(\d+)</g)].map(([, number]) => Number(number));
    expect(items.sort((a, b) => a - b)).toEqual(numbers);
    await files.close();
  });

  it("judges If-Match by the document, before and under the lock", async () => {
    const files = serveOne("<p>a</p>");
    const etag = (await files.fetch(new Request("http://localhost/page.html"))).headers.get("etag") ?? "";
    const statuses = await Promise.all(
      [1, 2].map(async () => (await send(files, "POST", "p", "x", { "if-match": etag })).status),
    );
    expect(statuses.sort()).toEqual([206, 412]);
    expect((await wholePage(files)).toString()).toBe("<p>ax</p>");
    await files.close();
  });
});
