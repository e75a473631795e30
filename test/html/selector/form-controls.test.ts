import { describe, expect, it } from "vitest";
import { select } from "../../elements/selecting.ts";

describe(":disabled", () => {
  it.each([
    ["<input id=a disabled><input id=b>", ["a"]],
    ["<p disabled><a disabled>", []],
    ["<fieldset id=f disabled><input id=a><fieldset id=g><button id=b></fieldset></fieldset>", ["f", "a", "g", "b"]],
    ["<fieldset id=f disabled><legend><input></legend><legend><input id=b></legend></fieldset>", ["f", "b"]],
    ["<fieldset id=f disabled><p><legend><input id=b></legend></fieldset>", ["f", "b"]],
    ["<select id=s disabled><optgroup id=g><option id=o></select>", ["s", "g", "o"]],
    ["<select><optgroup id=g disabled><option id=o></optgroup><option></select>", ["g", "o"]],
  ])("it finds what cannot be used in %s", async (html, expected) => {
    expect(await select(html, ":disabled")).toEqual(expected);
  });
});

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

describe(":placeholder-shown, :required, :read-write", () => {
  it.each([
    [
      ":placeholder-shown",
      "<input id=a placeholder=x><input placeholder=x value=y><input type=radio placeholder=x>",
      ["a"],
    ],
    [":placeholder-shown", "<textarea id=a placeholder=x>\n</textarea><textarea placeholder=x>y</textarea>", ["a"]],
    [":placeholder-shown", "<input id=a type=number placeholder=x value=abc>", ["a"]],
    [":required", "<input id=a required><input type=range required><button required></button>", ["a"]],
    ["body :optional", "<input type=range id=a required><input required><button id=b></button>", ["a", "b"]],
    [":read-write", "<input id=a><input readonly><input disabled><input type=radio><textarea id=b>", ["a", "b"]],
    [":read-write", "<p id=a contenteditable><i contenteditable=false></i><b id=b></b><svg></svg>", ["a", "b"]],
    ["body :read-only", "<p id=a contenteditable></p><p id=b></p><svg></svg>", ["b"]],
  ])("%s goes by the attributes in %s", async (selector, html, expected) => {
    expect(await select(html, selector)).toEqual(expected);
  });
});

describe(":valid, :invalid, :in-range, :out-of-range", () => {
  it("match nothing, since they judge what a user has typed", async () => {
    const html = "<form><input required><input type=number min=1 value=0><input type=email value=a@b></form>";
    expect(await select(html, ":valid, :invalid, :in-range, :out-of-range")).toEqual([]);
  });
});
