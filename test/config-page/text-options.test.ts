import { describe, expect, it } from "vitest";
import { z } from "zod";
import { expectationOf, optionName, parameterName, readText, tidyText } from "../../src/config-page/text-options.ts";

describe("optionName", () => {
  it.each([
    ["requests_per_second", "requestsPerSecond"],
    ["requests-per-second", "requestsPerSecond"],
    ["requestsPerSecond", "requestsPerSecond"],
    ["ipv6_prefix", "ipv6Prefix"],
    ["path", "path"],
    ["constructor", "constructor"],
    ["__proto__", "Proto__"],
    ["a__b", "aB"],
  ])("takes %s for %s", (property, name) => {
    expect(optionName(property)).toBe(name);
  });
});

describe("parameterName", () => {
  it.each(["requests_per_second", "ipv6_prefix", "timeout_ms", "path"])("is how %s is written", (name) => {
    expect(parameterName(optionName(name))).toBe(name);
  });
});

describe("tidyText", () => {
  it("drops white space at the ends, and has a space for a line break", () => {
    expect(tidyText("\n  The  old\n     archive\t ")).toBe("The  old archive");
  });
});

describe("readText", () => {
  const number = z.number("a number").min(1, "a number");
  const text = z.string("a text");
  const truth = z.boolean("true or false");

  it.each([
    ["a number", number, ["2.5"], 2.5],
    ["a number with a sign and an exponent", number, ["+1e3"], 1000],
    ["a number without a digit before the point", z.number(), [".5"], 0.5],
    ["true", truth, ["true"], true],
    ["false", truth, ["false"], false],
    ["a text", text, ["hello"], "hello"],
    ["a text that looks like a number", text, ["123"], "123"],
    ["a text that looks like a truth value", text, ["true"], "true"],
    ["false before a text", z.union([z.literal(false), text]), ["false"], false],
    ["a number before a text", z.union([text, z.number()]), ["1"], 1],
    ["a list of one", z.array(text), ["a"], ["a"]],
    ["a list of several", z.array(text), ["a", "b"], ["a", "b"]],
    ["a list in one text", z.array(text), ["a, b  c,d"], ["a", "b", "c", "d"]],
    ["a list of numbers", z.array(number), ["1", "2 3"], [1, 2, 3]],
    [
      "pairs",
      z.record(z.string(), text),
      [".md text/markdown; charset=utf-8", ".x a/b"],
      { ".md": "text/markdown; charset=utf-8", ".x": "a/b" },
    ],
  ])("reads %s", (_what, schema: z.ZodType, texts, value) => {
    expect(readText(schema, texts)).toEqual({ value });
  });

  it.each([
    ["a word for a number", number, ["x"]],
    ["hexadecimal digits", number, ["0x10"]],
    ["digits with a thousands separator", number, ["1,000"]],
    ["nothing for a number", number, [""]],
    ["infinity", number, ["Infinity"]],
    ["a number beyond all numbers", number, ["1e999"]],
    ["a number with its unit", number, ["10s"]],
    ["yes for true", truth, ["yes"]],
    ["TRUE", truth, ["TRUE"]],
    ["two numbers for one", number, ["1", "2"]],
    ["a name without a value", z.record(z.string(), text), [".md"]],
    ["a name with two values", z.record(z.string(), text), [".md a/b", ".md c/d"]],
  ])("refuses %s", (_what, schema: z.ZodType, texts) => {
    expect(readText(schema, texts)).toBeUndefined();
  });
});

describe("expectationOf", () => {
  const rate = z.number("a number").positive("a positive number");

  it.each([
    ["the type, for a value of another one", rate, ["x"], "a number"],
    ["the range, for a value of the type", rate, ["-1"], "a positive number"],
    [
      "what an element should be, for a list",
      z.array(z.string().startsWith("a", "words with a"), "a list"),
      ["b"],
      "words with a",
    ],
    [
      "a pair, for an object",
      z.record(z.string(), z.string(), "an object"),
      [".md"],
      'a name and a value with a blank between them, such as ".md text/markdown"',
    ],
    ["the type, for a value that is given twice", rate, ["1", "2"], "a number"],
  ])("is %s", (_what, schema: z.ZodType, texts, expected) => {
    expect(expectationOf(schema, texts)).toBe(expected);
  });
});
