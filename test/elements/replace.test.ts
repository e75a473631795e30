import { describe, expect, it } from "vitest";
import { edit } from "./editing.ts";

describe("replaceElements", () => {
  it.each([
    ["every match", "<i>a</i>-<i>b</i>\r\n", "i", "<b>c</b>", "<b>c</b>-<b>c</b>\r\n"],
    ["the outermost of nested matches", "<div>a<div>b</div></div>c", "div", "<p>x</p>", "<p>x</p>c"],
    ["only it, behind a byte order mark", "\ufeff<p>a</p>\r\n<p>b</p>", "p:last-child", "x", "\ufeff<p>a</p>\r\nx"],
    ["with several elements", "<p>a</p>", "p", "<p>b</p>\n<p>c</p>", "<p>b</p>\n<p>c</p>"],
    ["one without end tag", "<ul><li>a<li>b<li>c</ul>", "li:nth-child(2)", "<li>x", "<ul><li>a<li>x</li><li>c</ul>"],
    ["with text that joins no element", "<ul><li>a<li>b</ul>", "li:last-child", "x", "<ul><li>a</li>x</ul>"],
    ["cells of an implied tbody", "<table><td>1<td>2</table>", "td", "<th>", "<table><th></th><th></th></table>"],
    ["it among comments", "<!--<p>--><script>'<p>'</script><p>a</p>", "p", "b", "<!--<p>--><script>'<p>'</script>b"],
    ["foreign elements", "<svg><g/><path/></svg>", "path", "<circle r=1 />", "<svg><g/><circle r=1 /></svg>"],
    ["the body", "<body class=a>x</body>", "body", "<body class=b>y</body>", "<body class=b>y</body>"],
    ["the whole page", "<html><p>a</html>", "html", "<html><body>b</body></html>", "<html><body>b</body></html>"],
    ["several without end tags by text", "<ul><li>a<li>b</ul>", "li", "x", "<ul>xx</ul>"],
    ["a block that closed the paragraph before it", "<p>a<div>b</div>c", "div", "x", "<p>a</p>xc"],
    ["what closed the head", "<head><base><x-a>b</head>c</x-a>", "x-a", "<x-a>d</x-a>", "<head><base><x-a>d</x-a>"],
    ["a row by rows", "<table><tr><td>1</table>", "tr", "<tr><td>2<tr>", "<table><tr><td>2<tr></tr></table>"],
    ["the first thing in a pre", "<pre><b>x</b>y</pre>", "b", "\nz", "<pre>\n\nzy</pre>"],
    ["a head", "<html><head><title>t</title></head><p>", "head", "<head></head>\n", "<html><head></head><p>"],
    ["a body with white space around it", "<body>a</body>\n", "body", "\n<body>b</body>\n", "\n<body>b</body>\n"],
    ["it with text and a line break", "<i>a</i><b>b</b>", "i", "text\n", "text\n<b>b</b>"],
    ["a template's neighbour", "<template><p>a</p></template><p>b</p>", "p", "c", "<template><p>a</p></template>c"],
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
    ["something else in place of an implied head", "<p>a</p>", "head", "<p>b</p>", "INVALID_TARGET"],
    ["something else in place of a frameset", "<frameset></frameset>", "frameset", "x", "INVALID_HTML"],
    ["a paragraph in a paragraph", "<p>a<i>b</i></p>", "i", "<p>c</p>", "INVALID_HTML"],
    ["text in place of a row", "<table><tr><td>a</table>", "tr", "x", "INVALID_HTML"],
    ["cells of two rows that would become one", "<table><tr><td>a<tr><td>b</table>", "tr", "<td>c", "INVALID_HTML"],
  ])("refuses %s and changes nothing", async (_, before, selector, html, code) => {
    const { status, body, page, changes } = await edit(before, "PUT", selector, html);
    expect([status, JSON.parse(body).code, page, changes]).toEqual([400, code, before, []]);
  });

  it.each([
    ["an implied element", "<table><tr><td>a</table>", "tbody", "<tbody></tbody>", "<table><tbody></tbody></table>"],
    ["an implied body", "<p>a</p>", "body", "<body class=b>c</body>", "<body class=b>c</body>"],
    ["an element with the end tag of another", "<b><p>1</b></p>tail", "p", "<i>x</i>", "<body><b></b><i>x</i>tail"],
    ["text that would become a reference", "&am<i>x</i>", "i", "p;", "&amp;amp;"],
  ])("puts a page in order to replace %s", async (_, before, selector, html, after) => {
    const { status, headers, page } = await edit(before, "PUT", selector, html);
    expect([status, headers.get("x-normalised")]).toEqual([206, "true"]);
    expect(page).toContain(after);
  });

  it("answers 204 where nothing matches, whatever was sent", async () => {
    const { status, headers, changes } = await edit("<p>a</p>", "PUT", "table", "<not well-formed");
    expect([status, headers.get("x-selector-matches"), changes]).toEqual([204, "0", []]);
  });

  it("keeps the bytes of a document that is not UTF-8, and takes only ASCII into it", async () => {
    const before = Buffer.concat([Buffer.from("<i>a</i>"), Buffer.from([0xe9, 0xff])]);
    const after = Buffer.concat([Buffer.from("<b>b</b>"), Buffer.from([0xe9, 0xff])]);
    expect((await edit(before, "PUT", "i", "<b>b</b>")).page).toBe(after.toString());
    expect((await edit(before, "PUT", "i", "é")).status).toBe(422);
  });
});
