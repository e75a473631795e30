import { expect, it } from "vitest";
import { bodyOf, pageOf } from "../reading.ts";

it.each([
  ["a&lt;b\r\nc\0d", "a&lt;b\ncd"],
  ["<b>a<p>b</b>c", "<b>a</b><p><b>b</b>c</p>"],
  ["<p><script>a<b></script>c", "<p><script>a<b></script>c</p>"],
  ["<textarea>\n\na<b>&lt;", "<textarea>\n\na&lt;b&gt;&lt;</textarea>"],
  ["<title>a</titles></title>b", "b"],
  ["a<!--b-->c", "a<!--b-->c"],
  ["<p>a<!doctype html>b", "<p>ab</p>"],
])("reads %j", async (html, body) => {
  expect(await bodyOf(html)).toBe(body);
});

it("ends a page in the middle of anything", async () => {
  expect(await pageOf("<body><div><template><p>a")).toBe(
    "<html><head></head><body><div><template><p>a</p></template></div></body></html>",
  );
  expect(await pageOf("<style>a")).toBe("<html><head><style>a</style></head><body></body></html>");
});
