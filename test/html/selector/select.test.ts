import { describe, expect, it } from "vitest";
import { compileSelector, selectElements } from "../../../src/html/selector/select.ts";
import { select } from "../../elements/selecting.ts";
import { parseHtml } from "../../helpers/parse-html.ts";

const page = `<!doctype html><html lang=en><head><title>t</title></head><body>
<ul id=list class="a b"><li id=one>1<li id=two class=x>2<li id=three>3</ul>
<p id=empty></p><p id=blank> </p><a id=link href=x>y</a><svg id=s><a id=sa xlink:href=z></a></svg>
<template id=t><i id=hidden></i></template><table id=tab><tr id=row><td id=cell>1</table></body></html>`;

describe("selectElements", () => {
  it.each([
    ["li", ["one", "two", "three"]],
    ["LI", ["one", "two", "three"]],
    ["#two", ["two"]],
    [".a.b > li:nth-child(2n+1)", ["one", "three"]],
    ["li:not(.x):last-child", ["three"]],
    ["#one ~ li, #list", ["list", "two", "three"]],
    ["#one + li", ["two"]],
    ["ul:has(> .x)", ["list"]],
    ["table > tbody > tr", ["row"]],
    ["table > tr", []],
    ["tbody", ["tbody"]],
    ["i, #hidden", []],
    ["p:empty", ["empty"]],
    ["[href]", ["link"]],
    [":root", ["html"]],
    [":scope > body", ["body"]],
    [":lang(en) #one", ["one"]],
    ["a:hover, li::before, :host", []],
    ["li:nth-child(1 of .x)", ["two"]],
    ["[class=X i]", ["two"]],
    [":is(:unknown, #one)", ["one"]],
    ["*|li#one", ["one"]],
    ["|li", []],
    ["[constructor], [toString]", []],
  ])("it selects %s", async (selector, expected) => {
    expect(await select(page, selector)).toEqual(expected);
  });

  it("finds the elements of one document after those of another", async () => {
    const selector = compileSelector("div:has(b) p");
    const first = await parseHtml("<div><b></b><p id=x></p></div>");
    const second = await parseHtml("<div><p id=y></p></div>");
    expect([first, second, first].map((document) => selectElements(document, selector).length)).toEqual([1, 0, 1]);
  });
});

describe("the limits of a selection", () => {
  it("refuses more matches than allowed", async () => {
    const error = { code: "TOO_MANY_MATCHES" };
    await expect(select("<p><p><p>", "p", { maxMatches: 2 })).rejects.toMatchObject(error);
    await expect(select("<p>".repeat(10_001), "p")).rejects.toMatchObject(error);
    await expect(select("<p>".repeat(10_000), "p")).resolves.toHaveLength(10_000);
  });

  it("stops when the time is over", async () => {
    const error = { code: "SELECTOR_TOO_COSTLY" };
    const selector = Array(30).fill("* ~ p:nth-child(n)").join(",");
    await expect(select("<p>".repeat(10_000), selector, { maxSelectionMs: 1 })).rejects.toMatchObject(error);
  });
});

describe("compileSelector", () => {
  it("gives the same selector compiled once for the same limits", () => {
    expect(compileSelector("ul > li")).toBe(compileSelector("ul > li"));
    expect(() => compileSelector("ul > li", { maxCompounds: 1 })).toThrow("more than 1");
  });
});
