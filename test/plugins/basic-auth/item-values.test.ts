import { expect, it } from "vitest";
import { type FoundUsers, nothingFound } from "../../../src/plugins/basic-auth/found-users.ts";
import { ItemValues } from "../../../src/plugins/basic-auth/item-values.ts";
import { itemOf } from "../../helpers/microdata.ts";

async function valuesOf(
  html: string,
  known: readonly string[] = ["a"],
): Promise<{ values: ItemValues; found: FoundUsers }> {
  const found = nothingFound();
  return { values: new ItemValues(await itemOf(`<div itemscope>${html}</div>`), known, found), found };
}

it("gives texts without the white space around them, with their lines", async () => {
  const { values, found } = await valuesOf("<b itemprop=a> x </b>\n<b itemprop=a>y z</b>");
  expect(values.all("a")).toEqual([
    { text: "x", line: 1 },
    { text: "y z", line: 2 },
  ]);
  expect(values.words("a").map(({ text }) => text)).toEqual(["x", "y", "z"]);
  expect(values.one("none")).toBeUndefined();
  expect(values.hasProblems).toBe(false);
  expect(found.problems).toEqual([]);
});

it("tells of a second value where one is meant, in its line", async () => {
  const { values, found } = await valuesOf("<b itemprop=a>x</b>\n<b itemprop=a>y</b>");
  expect(values.one("a")).toEqual({ text: "x", line: 1 });
  expect(values.hasProblems).toBe(true);
  expect(found.problems).toEqual([{ line: 2, text: "there is more than one a: expected one" }]);
});

it("tells of properties that it does not know, in the line of the first", async () => {
  const { values, found } = await valuesOf("\n<b itemprop='a b'>x</b><b itemprop=b>y</b>");
  expect(values.hasProblems).toBe(true);
  expect(found.problems).toEqual([{ line: 2, text: 'there is no property "b": expected one of a' }]);
});

it("knows words by their meaning", async () => {
  const { values, found } = await valuesOf("<b itemprop=a>yes</b>");
  expect(values.oneOf({ text: "yes", line: 1 }, "a", { yes: 1, no: 0 })).toBe(1);
  expect(found.problems).toEqual([]);
  expect(values.oneOf({ text: "toString", line: 7 }, "a", { yes: 1, no: 0 })).toBeUndefined();
  expect(found.problems).toEqual([{ line: 7, text: "the a is unknown: expected one of yes, no" }]);
});
