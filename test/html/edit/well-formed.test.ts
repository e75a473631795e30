import { describe, expect, it } from "vitest";
import { contextIn, fragmentsOf, parseFragment } from "../../../src/html/edit/well-formed.ts";
import { elementsOf } from "../../elements/pages.ts";
import { done } from "../../helpers/done.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

describe("parseFragment", () => {
  it.each([
    "text alone",
    "a < b && c > d",
    "<p>a</p><p>b</p>",
    "<br><img src=x>",
    "<li>a<li>b</li>",
    "<dl><dt>a<dd>b</dl>",
    "<table><tr><td>1<td>2<tr><td>3</table>",
    "<a title='x>y'>z</a>",
    "<script>if (a < b) '</p>'</script>",
    "<!-- <b> --><i>x</i>",
    "<svg><path d=x /><title><b>x</b></title></svg>",
    "<DIV></div>",
    "<textarea><p></textarea>",
    "<select><option>a<option>b</select>",
    "<p>a<p>b</p>",
    "<ruby>x<rt>y</ruby>",
    "<x-y></x-y>",
    "<svg><![CDATA[<b>]]></svg>",
    "<body><p>x</p></body>",
  ])("takes %s as it is", async (html) => {
    expect((await done(parseFragment(html))).html).toBe(html);
  });

  it.each([
    ["<li>a", "<li>a</li>"],
    ["<li>a<li>b", "<li>a<li>b</li>"],
    ["<tr><td>1<td>2", "<tr><td>1<td>2</td></tr>"],
    ["<dt>a<dd>b", "<dt>a<dd>b</dd>"],
    ["<p>a<ul><li>b</ul><p>c", "<p>a<ul><li>b</ul><p>c</p>"],
  ])("adds the end tags that are left out at the very end: %s", async (html, completed) => {
    expect((await done(parseFragment(html))).html).toBe(completed);
  });

  it.each([
    ["<div>", "<div> is not closed at the end (line 1, column 1)"],
    ["<p>\n  <b>x</p>", "<b> is not closed before </p> (line 2, column 3)"],
    ["x</p>", "</p> closes nothing (line 1, column 2)"],
    ["<b><i></b></i>", "<i> is not closed before </b> (line 1, column 4)"],
    ["<br></br>", "</br> closes nothing"],
    ["<div/>", "<div> is not closed"],
    ["<p", "a tag or an attribute is not closed"],
    ["<p title='x", "a tag or an attribute is not closed"],
    ["a<", "a tag is not complete"],
    ["<p></", "a tag is not complete"],
    ["</>", "an end tag has no name"],
    ["<!-- x", "a comment is not closed"],
    ["<script>x", "<script> is not closed"],
    ["<textarea><p>", "<textarea> is not closed"],
    ["<svg><path></svg>", "<path> is not closed before </svg>"],
    ["<p></p><!doctype html>", "a doctype cannot stand in an element (line 1, column 8)"],
  ])("refuses %s and says where", async (html, message) => {
    const error = expect.objectContaining({ code: "INVALID_HTML", message: expect.stringContaining(message) });
    await expect(done(parseFragment(html))).rejects.toThrow(error);
  });

  it("lists the start tags with their places", async () => {
    expect((await done(parseFragment("a<b>c</b><br>"))).tags).toMatchObject([
      { name: "b", start: 1, contentStart: 4, endTag: 5 },
      { name: "br", start: 9, contentStart: 13 },
    ]);
  });

  it("lists what a tree should have of it, ends that were left out included", async () => {
    const { steps } = await done(parseFragment("<ul><li>a&amp;<li><!--c--></ul>"));
    expect(steps.map(({ kind, tag, data, parent }) => [kind, tag?.name ?? data, parent])).toEqual([
      ["start", "ul", undefined],
      ["start", "li", "ul"],
      ["text", "a&", "li"],
      ["end", "li", "ul"],
      ["start", "li", "ul"],
      ["comment", "c", "li"],
      ["end", "li", "ul"],
      ["end", "ul", undefined],
    ]);
  });

  it("leaves out the line end that the parser takes for no content", async () => {
    const { steps } = await done(parseFragment("<pre>\n\nx</pre><p>\ny</p>"));
    const texts = steps.filter(({ kind }) => kind === "text").map(({ data }) => data);
    expect(texts).toEqual(["\nx", "\ny"]);
  });

  it("reads a fragment of 200,000 nested elements in linear time", async () => {
    const html = "<b>".repeat(200_000) + "</b>".repeat(200_000);
    expect((await done(parseFragment(html))).tags).toHaveLength(200_000);
  });
});

describe("contextIn", () => {
  it("lets elements close themselves in SVG and MathML only", async () => {
    expect((await done(parseFragment("<path/><g/>", "foreign"))).html).toBe("<path/><g/>");
    await expect(done(parseFragment("<path/>"))).rejects.toThrow("<path> is not closed");
  });

  it("goes by the parent: SVG is foreign, and HTML stands in a foreignObject again", async () => {
    const document = await parseHtml("<svg><foreignObject></foreignObject></svg><p>");
    const contexts = elementsOf(document).map((element) => [element.name, contextIn(element)]);
    expect(Object.fromEntries(contexts)).toMatchObject({ svg: "foreign", foreignObject: "html", p: "html" });
  });
});

describe("what is to be text of an element", () => {
  it.each([
    ["if (a < b) x('<p>')", "script", "if (a < b) x('<p>')"],
    ["a > b {} </b>", "style", "a > b {} </b>"],
    ["a & <b> &amp;", "title", "a & <b> &"],
    ["</div>\r\n", "textarea", "</div>\n"],
    ["x</scripts>", "script", "x</scripts>"],
  ])("may be %s for a %s", async (text, textOf, read) => {
    const { steps } = await done(parseFragment(text, { textOf }));
    expect(steps.map(({ data }) => data).join("")).toBe(read);
  });

  it.each([
    ["x</script>", "script"],
    ["x</SCRIPT >", "script"],
    ["x</style ", "style"],
    ["x</title/", "title"],
    ["x\n</textarea>", "textarea"],
  ])("may not be %s, which would end a %s early", async (text, textOf) => {
    await expect(done(parseFragment(text, { textOf }))).rejects.toThrow(`it would end the <${textOf}> early`);
  });
});

describe("fragmentsOf", () => {
  it("reads the same HTML once for each context", async () => {
    const document = await parseHtml("<p></p><b></b>");
    const [, , , p, b] = elementsOf(document);
    const fragmentIn = fragmentsOf("<i>x</i>");
    expect(await done(fragmentIn(p ?? null))).toBe(await done(fragmentIn(b ?? null)));
  });
});
