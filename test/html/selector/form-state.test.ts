import { describe, expect, it } from "vitest";
import { select } from "../../elements/selecting.ts";

describe(":checked", () => {
  it.each([
    ["<input type=checkbox id=a checked><input type=checkbox><input checked>", ["a"]],
    ["<input type=radio name=g checked><input type=radio name=g id=b checked>", ["b"]],
    ["<input type=radio name=g id=a checked><input type=radio name=G id=b checked>", ["a", "b"]],
    ["<form><input type=radio name=g id=a checked></form><input type=radio name=g id=b checked>", ["a", "b"]],
    ["<input type=radio id=a checked><input type=radio id=b checked>", ["a", "b"]],
    ["<select><option id=a><option></select>", ["a"]],
    ["<select><option><option id=b selected></select>", ["b"]],
    ["<select><option selected><option id=b selected></select>", ["b"]],
    ["<select><option disabled><option id=b></select>", ["b"]],
    ["<select multiple><option id=a selected><option id=b selected><option></select>", ["a", "b"]],
    ["<select size=2><option></select>", []],
    ["<datalist><option><option id=a selected></datalist>", ["a"]],
  ])("it goes by what the page says in %s", async (html, expected) => {
    expect(await select(html, ":checked")).toEqual(expected);
  });
});

describe(":indeterminate", () => {
  it.each([
    ["<input type=radio id=a name=g><input type=radio id=b name=g>", ["a", "b"]],
    ["<input type=radio name=g><input type=radio name=g checked>", []],
    ["<input type=radio id=a><input type=radio checked>", ["a"]],
    ["<progress id=a></progress><progress value=1></progress>", ["a"]],
    ["<input type=checkbox>", []],
  ])("it goes by what the page says in %s", async (html, expected) => {
    expect(await select(html, ":indeterminate")).toEqual(expected);
  });
});
