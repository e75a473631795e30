import { expect, it } from "vitest";
import { pageOf } from "../reading.ts";

const page = (body: string, behind = ""): string => `<html><head></head><body>${body}</body>${behind}</html>`;

it.each([
  ["<p>a</body><p>b", page("<p>a</p><p>b</p>")],
  ["<p>a</body>b", page("<p>ab</p>")],
  ["<p>a</html>b", page("<p>ab</p>")],
  ["<p>a</body><!--b-->", page("<p>a</p>", "<!--b-->")],
  ["<p>a</body></html><!--b--><p>c", `${page("<p>a</p><p>c</p>")}<!--b-->`],
  ["<p>a</html></p>b", page("<p>a</p>b")],
  ["<p>a</body><html b=c>", '<html b="c"><head></head><body><p>a</p></body></html>'],
  ["<p>a</body>\0<!--b-->", "<html><head></head><body><p>a</p></body><!--b--></html>"],
])("reads what stands behind the body: %j", async (html, expected) => {
  expect(await pageOf(html)).toBe(expected);
});

const frames = (content: string, behind = ""): string =>
  `<html><head></head><frameset>${content}</frameset>${behind}</html>`;

it.each([
  ["<frameset> a <frame><p><frameset></frameset></frameset>", frames("  <frame><frameset></frameset>")],
  ["<frameset></frameset>a b<!--c--><noframes>d<b></noframes>", frames("", " <!--c--><noframes>d<b></noframes>")],
  ["<frameset></frameset></html>a<!--b--><noframes>c", `${frames("", "<noframes>c</noframes>")}<!--b-->`],
  ["<frameset></frameset></html> <html a=b>", frames("", " ").replace("<html>", '<html a="b">')],
])("reads a page of frames: %j", async (html, expected) => {
  expect(await pageOf(html)).toBe(expected);
});
