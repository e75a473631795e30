import { describe, expect, it } from "vitest";
import { decodeHtml, parseFragment } from "../../src/elements/well-formed.ts";

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
  ])("takes %s as it is", (html) => {
    expect(parseFragment(html).html).toBe(html);
  });

  it.each([
    ["<li>a", "<li>a</li>"],
    ["<li>a<li>b", "<li>a<li>b</li>"],
    ["<tr><td>1<td>2", "<tr><td>1<td>2</td></tr>"],
    ["<dt>a<dd>b", "<dt>a<dd>b</dd>"],
    ["<p>a<ul><li>b</ul><p>c", "<p>a<ul><li>b</ul><p>c</p>"],
  ])("adds the end tags that are left out at the very end: %s", (html, completed) => {
    expect(parseFragment(html).html).toBe(completed);
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
  ])("refuses %s and says where", (html, message) => {
    const error = expect.objectContaining({
      status: 400,
      code: "INVALID_HTML",
      message: expect.stringContaining(message),
    });
    expect(() => parseFragment(html)).toThrow(error);
  });

  it("lists the start tags with their places", () => {
    expect(parseFragment("a<b>c</b><br>").tags).toMatchObject([
      { name: "b", start: 1, endTag: 5 },
      { name: "br", start: 9 },
    ]);
  });
});

describe("contextIn", () => {
  it("lets elements close themselves in SVG and MathML only", () => {
    expect(parseFragment("<path/><g/>", "foreign").html).toBe("<path/><g/>");
    expect(() => parseFragment("<path/>")).toThrow("<path> is not closed");
  });
});

describe("decodeHtml", () => {
  it("reads UTF-8 without its byte order mark", () => {
    expect(decodeHtml(Buffer.from("\ufeffé"))).toBe("é");
  });

  it("refuses what is not UTF-8, and NUL", () => {
    expect(() => decodeHtml(Buffer.from([0xe9]))).toThrow("not valid UTF-8");
    expect(() => decodeHtml(Buffer.from("a\nb\0"))).toThrow("NUL character (line 2, column 2)");
  });
});
