import { expect, it } from "vitest";
import { bodyOf, pageOf } from "../reading.ts";

it.each([
  ["a&lt;b\r\nc\0d", "a&lt;b\ncd"],
  ["<b>a<p>b</b>c", "<b>a</b><p><b>b</b>c</p>"],
  ["<p><script>a<b></script>c", "<p><script>a<b></script>c</p>"],
  ["<textarea>\n\na<b>&lt;", "<textarea>\n\na&lt;b&gt;&lt;</textarea>"],
  ["<title>a</titles></title>b", "b"],
])("reads %j", async (html, body) => {
  expect(await bodyOf(html)).toBe(body);
});

it("ends a page in the middle of anything", async () => {
  expect(await pageOf("<body><div><template><p>a")).toBe(
    "<html><head></head><body><div><template><p>a</p></template></div></body></html>",
  );
  expect(await pageOf("<style>a")).toBe("<html><head><style>a</style></head><body></body></html>");
});

it.each([
  ["<p>a<section>b", "<p>a</p><section>b</section>"],
  ["<pre>\na\n</pre>", "<pre>a\n</pre>"],
  ["<pre>&#10;a</pre>", "<pre>a</pre>"],
  ["<pre>\0\na</pre>", "<pre>a</pre>"],
  ["<form><form><p>a</form>", "<form><p>a</p></form>"],
  ["<ul><li>a<li><div>b<li>c</ul>", "<ul><li>a</li><li><div>b</div></li><li>c</li></ul>"],
  ["<ul><li><ul><li>a</ul><li>b", "<ul><li><ul><li>a</li></ul></li><li>b</li></ul>"],
  ["<a>a<a>b</a>c", "<a>a</a><a>b</a>c"],
  ["<a>a<table><a>b</a></table>", "<a>a<a>b</a><table></table></a>"],
  ["<b>a<object><b>b</object>c", "<b>a<object><b>b</b></object>c</b>"],
  ["<iframe><b></iframe><noembed><b></noembed>", "<iframe><b></iframe><noembed><b></noembed>"],
  ["<p>a<plaintext>b</p>", "<p>a</p><plaintext>b</p>"],
  ["<ruby>a<rb>b<rt>c<rp>d<rtc>e<rt>f", "<ruby>a<rb>b</rb><rt>c</rt><rp>d</rp><rtc>e<rt>f</rt></rtc></ruby>"],
  ["a<td>b<head>c<tbody>d", "abcd"],
  ["<p>a<x-y>b<p>c", "<p>a<x-y>b</x-y></p><p>c</p>"],
  ["<svg><path/><desc><b>a</b></desc></svg>b", "<svg><path></path><desc><b>a</b></desc></svg>b"],
])("reads %j", async (html, body) => {
  expect(await bodyOf(html)).toBe(body);
});

it.each([
  ["<select><option>a<option>b</select>", "<select><option>a</option><option>b</option></select>"],
  [
    "<select><button>a</button><option><b>b</b></select>",
    "<select><button>a</button><option><b>b</b></option></select>",
  ],
  ["<select><div>a</div><option>b", "<select><div>a</div><option>b</option></select>"],
  [
    "<select><optgroup><option>a<optgroup><option>b",
    "<select><optgroup><option>a</option></optgroup><optgroup><option>b</option></optgroup></select>",
  ],
  ["<select><optgroup><option>a<hr>b", "<select><optgroup><option>a</option></optgroup><hr>b</select>"],
  ["<select><option>a<select>b", "<select><option>a</option></select>b"],
  ["<select><option>a<input>b", "<select><option>a</option></select><input>b"],
  ["<option>a<option>b<p>c<option>d", "<option>a</option><option>b<p>c<option>d</option></p></option>"],
  ["<table><select><tr><td>a", "<select></select><table><tbody><tr><td>a</td></tr></tbody></table>"],
])("reads a select as browsers of today do: %j", async (html, body) => {
  expect(await bodyOf(html)).toBe(body);
});

it("adds attributes of further tags to html and body", async () => {
  expect(await pageOf("<html a=1><body b=2><html a=3 c=4><body b=5 d=6>x")).toBe(
    '<html a="1" c="4"><head></head><body b="2" d="6">x</body></html>',
  );
  expect(await pageOf("<body><template><body a=1><html b=2></template>")).toBe(
    "<html><head></head><body><template></template></body></html>",
  );
});

it("takes a frameset for the body where there is nothing yet", async () => {
  expect(await pageOf("<p> <input type=hidden><frameset>")).toBe("<html><head></head><frameset></frameset></html>");
  expect(await pageOf("<p>a<frameset>")).toBe("<html><head></head><body><p>a</p></body></html>");
});

it("lets a table end a paragraph, but not in quirks mode", async () => {
  expect(await bodyOf("<!doctype html><p><table>")).toBe("<p></p><table></table>");
  expect(await bodyOf("<p><table>")).toBe("<p><table></table></p>");
});
