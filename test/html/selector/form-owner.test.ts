import { describe, expect, it } from "vitest";
import { select } from "../../elements/selecting.ts";

// The first submit button of a form is its default one: that tells which form a button belongs to.
describe("the form of a control", () => {
  it.each([
    ["<form><button id=a></button><button></button></form><button></button>", ["a"]],
    ["<form id=f></form><button id=a form=f></button><button></button>", ["a"]],
    ["<form><button form=none></button></form>", []],
    ["<form id=f></form><form><button form=f id=a></button><button id=b></button></form>", ["a", "b"]],
    ["<table><form><tr><td><button id=a></button></form></table><button></button>", ["a"]],
    ["<table><tr><form><td><button type=button></button><input id=a type=image></form><td><button></table>", ["a"]],
  ])("is the one that a browser finds in %s", async (html, expected) => {
    expect(await select(html, ":default")).toEqual(expected);
  });
});
