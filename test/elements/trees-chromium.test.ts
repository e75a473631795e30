import { describe, expect, it } from "vitest";
import { seededRandom, timesOf } from "../helpers/effort.ts";
import { parseHtml } from "../helpers/parse-html.ts";
import { dump } from "../html/html5lib.ts";
import { malformedPage, pageOfTheme } from "../html/malformed-page.ts";
import { offlineChromium } from "./chromium.ts";

const formatting = "<(?:a|b|i|nobr|font|code)\\b";
/**
 * Where Chromium leaves the standard. Selectors do not search templates, where most of it is: Chromium makes a form there between
 * the parts of a table, opens formatting again for white space, takes what begins with frames or a title for content of a body,
 * and lets frames follow. In SVG, `</foreignObject>` ends nothing but what is around it. White space behind the body opens no
 * formatting again.
 */
const differs = new RegExp(
  [
    "<template.*<(?:form|noframes|title|frameset)",
    `<template(?=.*${formatting}).*</?(?:t|caption|col)`,
    "<foreignObject.*</foreignObject",
    `${formatting}.*</(?:body|html)>[\\s\\0&]`,
  ].join("|"),
  "s",
);
const pagesAtOnce = 25;
const count = timesOf(25, 2000);

describe("the trees of malformed pages in Chromium", { tags: ["chromium"] }, () => {
  const browser = offlineChromium();

  it.each([
    ["made of anything", malformedPage, 41],
    ["about one thing", pageOfTheme, 42],
  ])(`are those of ${count} pages here: %s`, { timeout: 300_000 }, async (_, randomPage, seed) => {
    const random = seededRandom(seed);
    const page = await browser.open(Buffer.from("<!doctype html>"));
    for (let done = 0; done < count; done += pagesAtOnce) {
      const pages = Array.from({ length: pagesAtOnce }, () => randomPage(random)).filter((html) => !differs.test(html));
      const expected = await page.trees(pages);
      const found = await Promise.all(pages.map(async (html) => dump((await parseHtml(html)).root)));
      const wrong = pages.flatMap((html, index) =>
        found[index] === expected[index] ? [] : [{ html, here: found[index], inChromium: expected[index] }],
      );
      expect(wrong).toEqual([]);
    }
  });
});
