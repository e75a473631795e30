import { describe, expect, it } from "vitest";
import { select } from "../../elements/selecting.ts";

describe("pseudo-classes", () => {
  it.each([
    [":root", "<p>", ["html"]],
    [":scope", "<p>", ["html"]],
    ["& > body", "<p>", ["body"]],
    ["p:empty", "<p id=a><p id=b><!-- c --><p> <p><i></i>", ["a", "b"]],
    ["p:first-child, p:last-child", "<p id=a>x<p><p id=c> </p> y <!-- z -->", ["a", "c"]],
    ["p:only-child", "<div>x<p id=a></p>y</div><div><p></p><p></p></div>", ["a"]],
    ["body :first-of-type", "<i id=a></i><b id=b></b><i></i><svg><g id=c></g></svg>", ["a", "b", "svg", "c"]],
    ["body :last-of-type", "<i></i><b id=b></b><i id=c></i>", ["b", "c"]],
    ["body :only-of-type", "<i></i><b id=b></b><i></i>", ["b"]],
    [
      ":link",
      "<a id=a href></a><a></a><area id=b href><link href=x><svg><a id=c href=x></a><a id=d xlink:href=x></a></svg>",
      ["a", "b", "c", "d"],
    ],
    [":any-link, :visited", "<a id=a href=x>", ["a"]],
    [":not(:defined)", "<x-a id=a><p id=b is=x-b><font-face></font-face><q></q><svg><x-c></x-c></svg>", ["a", "b"]],
    [":open", "<details id=a open></details><details></details><dialog id=b open></dialog><p open>", ["a", "b"]],
    [
      ":default",
      "<form><input type=checkbox id=a checked><button id=b></button><button></button></form><option id=c selected>",
      ["a", "b", "c"],
    ],
    [":hover, :focus, :target, :modal, :fullscreen, :popover-open, :playing, :host", "<p id=a popover><video>", []],
    ["body :not(:hover)", "<p id=a>", ["a"]],
    ["::before, p::after, :first-line", "<p>", []],
  ])("%s selects in %s", async (selector, html, expected) => {
    expect(await select(`<!doctype html>${html}`, selector)).toEqual(expected);
  });
});
