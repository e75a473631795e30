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

  it.each([
    ["64 descendants", "<div>", "<b>", `${"div ".repeat(63)}x`, 64, []],
    ["children and descendants", "<div>", "<b>", `${"div > ".repeat(31)}${"div ".repeat(32)}b`, 64, ["b"]],
    ["siblings", "<p></p>", "<p id=z>", "p:has(~ x), x ~ p, #z:nth-last-child(1)", 5, ["z"]],
  ])(
    "takes a few steps for each element and compound: %s",
    async (_what, piece, end, selector, compounds, expected) => {
      for (const count of [100, 200, 400]) {
        const maxSelectionSteps = 5 * (count + 5) * compounds; // element by element, there would be an exponential number
        expect(await select(piece.repeat(count) + end, selector, { maxSelectionSteps })).toEqual(expected);
      }
    },
  );
});
