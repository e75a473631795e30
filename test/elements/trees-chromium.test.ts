import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seededRandom, timesOf } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { dump } from "../html/html5lib.ts";
import { OfflineChromium } from "./chromium.ts";

/** What malformed pages are made of. */
const parts = [
  ..."<b>|</b>|<i>|</i>|<a href=x>|</a>|<font size=1>|<font size=2>|</font>|<nobr>|</nobr>|<code>|</code>".split("|"),
  ..."<p>|</p>|<div>|</div>|<h1>|</h1>|<h2>|<pre>\n|</pre>|<ul>|<li>|</ul>|<dl>|<dt>|<dd>|<center>|</center>".split(
    "|",
  ),
  ..."<table>|</table>|<caption>|<col>|<colgroup>|<tbody>|<tr>|</tr>|<td>|</td>|<th>|<form>|</form>|<form id=f>".split(
    "|",
  ),
  ..."<select>|</select>|<option>|</option>|<optgroup>|</optgroup>|<hr>|<input>|<input type=hidden>|<button>".split(
    "|",
  ),
  ..."</button>|<textarea>\n|</textarea>|<title>|</title>|<style>|</style>|<noscript>|</noscript>|<xmp>|</xmp>".split(
    "|",
  ),
  ..."<svg>|</svg>|<g>|<path/>|<foreignObject>|</foreignObject>|<desc>|<math>|</math>|<mi>|<mglyph>|<x-y>".split("|"),
  ..."<annotation-xml encoding=text/html>|<annotation-xml>|<![CDATA[x]]>|<template>|</template>|<ruby>|<rt>|<rp>".split(
    "|",
  ),
  ..."<body a=b>|<html c=d>|</body>|</html>|<head>|</head>|<frameset>|<frame>|</frameset>|<object>|</object>".split(
    "|",
  ),
  ..."<!--c-->|<!doctype html>|</ x>|<!x>|text|x y| |\n|\r\n|\0|&amp;|&copy|&#13;|<br>|</br>|<img>|<image>".split("|"),
];
/** Between the parts of a table in a template Chromium makes a form, which the standard leaves out. Selectors do not search templates. */
const formInTemplate = /<template>.*<form/s;
const pagesAtOnce = 50;
const count = timesOf(150, 2000);

describe("the trees of malformed pages in Chromium", { tags: ["chromium"] }, () => {
  let browser: OfflineChromium;

  beforeAll(async () => {
    browser = await OfflineChromium.launch();
  });

  afterAll(() => browser.close());

  it(`are those of ${count} pages here`, { timeout: 300_000 }, async () => {
    const random = seededRandom(41);
    const page = await browser.open(Buffer.from("<!doctype html>"));
    for (let done = 0; done < count; done += pagesAtOnce) {
      const pages = Array.from({ length: pagesAtOnce }, () => malformed(random)).filter(
        (html) => !formInTemplate.test(html),
      );
      const expected = await page.trees(pages);
      const found = await Promise.all(pages.map(async (html) => dump((await parseHtml(html)).root)));
      const wrong = pages.flatMap((html, index) =>
        found[index] === expected[index] ? [] : [{ html, here: found[index], inChromium: expected[index] }],
      );
      expect(wrong).toEqual([]);
    }
  });
});

function malformed(random: () => number): string {
  const length = 1 + Math.floor(random() * 20);
  return Array.from({ length }, () => parts[Math.floor(random() * parts.length)] ?? "").join("");
}
