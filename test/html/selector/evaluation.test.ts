import { describe, expect, it } from "vitest";
import { select } from "../../elements/selecting.ts";

const page = `<!doctype html><body><div id=a><p id=b class=x></p><div id=c><p id=d></p><i id=e></i></div><p id=f class=x></p></div>
<template><p id=hidden></p></template>`;

describe("evaluation", () => {
  it.each([
    ["div p", ["b", "d", "f"]],
    ["div div p", ["d"]],
    ["div > p", ["b", "d", "f"]],
    ["body > div > p", ["b", "f"]],
    [".x + div", ["c"]],
    [".x ~ p", ["f"]],
    ["p + i, .x ~ .x", ["e", "f"]],
    ["div > * > p, div > p", ["b", "d", "f"]],
    ["f, p, i", ["b", "d", "e", "f"]],
    ["#f, #a, #e", ["a", "e", "f"]],
    ["p:not(div div *)", ["b", "f"]],
    [":is(body > div, .x + *) > p", ["b", "d", "f"]],
    ["div:has(i)", ["a", "c"]],
    ["div:has(> i)", ["c"]],
    ["p:has(+ div), p:has(~ p)", ["b"]],
    ["div:has(> p + div > i)", ["a"]],
    ["p:has(+ div i)", ["b"]],
    ["div:not(:has(.x))", ["c"]],
    ["div:has(p:nth-child(1):not(.x))", ["a", "c"]],
    [":has(:is(#a > div p))", ["html", "body", "a", "c"]],
    ["template *, #hidden", []],
    ["b p", []],
    ["div:hover p", []],
  ])("it selects %s in document order", async (selector, expected) => {
    expect(await select(page, selector)).toEqual(expected);
  });

  it("takes linear time where element by element it would be exponential", async () => {
    const deep = `${"<div>".repeat(500)}<b>`;
    expect(await select(deep, `${"div ".repeat(63)}x`)).toEqual([]);
    expect(await select(deep, `${"div > ".repeat(31)}${"div ".repeat(32)}b`)).toEqual(["b"]);
    expect(await select(`${"<p></p>".repeat(20_000)}<p id=z>`, "p:has(~ x), x ~ p, #z:nth-last-child(1)")).toEqual([
      "z",
    ]);
  });
});
