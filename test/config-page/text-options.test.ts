import { describe, expect, it } from "vitest";
import { expectationOf, optionName, parameterName, readText, tidyText } from "../../src/config-page/text-options.ts";
import { hostOptions } from "../../src/options/check-config.ts";
import {
  anyOf,
  listOf,
  number,
  optionsOf,
  recordOf,
  type Schema,
  text,
  valueThat,
  yesOrNo,
} from "../../src/options/schema.ts";

describe("optionName", () => {
  it.each([
    ["requests_per_second", "requestsPerSecond"],
    ["requests-per-second", "requestsPerSecond"],
    ["requestsPerSecond", "requestsPerSecond"],
    ["path", "path"],
    ["constructor", "constructor"],
    ["__proto__", "Proto__"],
    ["a__b", "aB"],
  ])("takes %s for %s", (property, name) => {
    expect(optionName(property)).toBe(name);
  });
});

describe("parameterName", () => {
  it.each(["requests_per_second", "cache_time", "path"])("is how %s is written", (name) => {
    expect(parameterName(optionName(name))).toBe(name);
  });
});

describe("tidyText", () => {
  it("drops white space at the ends, and has a space for a line break", () => {
    expect(tidyText("\n  The  old\n     archive\t ")).toBe("The  old archive");
  });
});

describe("readText", () => {
  const atLeastOne = number("a number", (value) => value >= 1);
  const aText = text("a text");
  const isFalse = valueThat((value) => value === false, "false");

  it.each([
    ["a number", atLeastOne, ["2.5"], 2.5],
    ["a number with a sign and an exponent", atLeastOne, ["+1e3"], 1000],
    ["a number without a digit before the point", number("a number"), [".5"], 0.5],
    ["true", yesOrNo, ["true"], true],
    ["false", yesOrNo, ["false"], false],
    ["a text", aText, ["hello"], "hello"],
    ["a text that looks like a number", aText, ["123"], "123"],
    ["a text that looks like a truth value", aText, ["true"], "true"],
    ["false before a text", anyOf([isFalse, aText], "a text or false"), ["false"], false],
    ["a number before a text", anyOf([aText, number("a number")], "a text or a number"), ["1"], 1],
    ["a list of one", listOf(aText, "a list"), ["a"], ["a"]],
    ["a list of several", listOf(aText, "a list"), ["a", "b"], ["a", "b"]],
    ["a list in one text", listOf(aText, "a list"), ["a, b  c,d"], ["a", "b", "c", "d"]],
    ["a list of numbers", listOf(atLeastOne, "a list"), ["1", "2 3"], [1, 2, 3]],
    [
      "pairs",
      recordOf(aText, "an object"),
      [".md text/markdown; charset=utf-8", ".x a/b"],
      { ".md": "text/markdown; charset=utf-8", ".x": "a/b" },
    ],
    [
      "several features",
      hostOptions.options["listing"] ?? yesOrNo,
      ["edit true", "zip true"],
      { edit: true, zip: true },
    ],
    ["a pair with a truth value", optionsOf({ edit: yesOrNo }, "an object"), ["edit true"], { edit: true }],
  ])("reads %s", (_what, schema: Schema, texts, value) => {
    expect(readText(schema, texts)).toEqual({ value });
  });

  it.each([
    ["a word for a number", atLeastOne, ["x"]],
    ["hexadecimal digits", atLeastOne, ["0x10"]],
    ["digits with a thousands separator", atLeastOne, ["1,000"]],
    ["nothing for a number", atLeastOne, [""]],
    ["infinity", atLeastOne, ["Infinity"]],
    ["a number beyond all numbers", atLeastOne, ["1e999"]],
    ["a number with its unit", atLeastOne, ["10s"]],
    ["yes for true", yesOrNo, ["yes"]],
    ["TRUE", yesOrNo, ["TRUE"]],
    ["two numbers for one", atLeastOne, ["1", "2"]],
    ["a name without a value", recordOf(aText, "an object"), [".md"]],
    ["a name with two values", recordOf(aText, "an object"), [".md a/b", ".md c/d"]],
  ])("refuses %s", (_what, schema: Schema, texts) => {
    expect(readText(schema, texts)).toBeUndefined();
  });
});

describe("expectationOf", () => {
  const rate = number("a number", (value) => value > 0, "a positive number");

  it.each([
    ["the type, for a value of another one", rate, ["x"], "a number"],
    ["the range, for a value of the type", rate, ["-1"], "a positive number"],
    [
      "what an element should be, for a list",
      listOf(
        text("a word", (word) => word.startsWith("a"), "words with a"),
        "a list",
      ),
      ["b"],
      "words with a",
    ],
    [
      "a pair, for an object",
      recordOf(text("a text"), "an object"),
      [".md"],
      'a name and a value with a blank between them, such as ".md text/markdown"',
    ],
    ["the type, for a value that is given twice", rate, ["1", "2"], "a number"],
  ])("is %s", (_what, schema: Schema, texts, expected) => {
    expect(expectationOf(schema, texts)).toBe(expected);
  });
});
