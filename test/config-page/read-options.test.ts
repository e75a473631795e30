import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import {
  expectationOf,
  type ItemKind,
  optionName,
  optionProperties,
  Problems,
  readOptions,
  readText,
  tidyText,
} from "../../src/config-page/read-options.ts";
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
import { itemOf } from "../helpers/microdata.ts";

const kind: ItemKind = {
  schema: optionsOf(
    {
      root: text("a directory"),
      maxSize: number("a number"),
      isOpen: yesOrNo,
      names: listOf(text("a name"), "a list"),
      logger: valueThat(() => true, "a logger"),
    },
    "options",
  ),
  spelling: "hostRoot",
  renamed: { root: "hostRoot" },
  locations: ["root"],
  codeOnly: ["logger"],
  others: ["plugin"],
};

async function readFor(
  required: readonly string[],
  ...properties: readonly string[]
): Promise<{ options: Record<string, unknown>; problems: readonly string[] }> {
  const problems = new Problems("page");
  const add: Problems["add"] = (line, text) => problems.add(line, text);
  const item = await itemOf(["<div itemscope>", ...properties, "</div>"].join("\n")); // they begin in line 2
  const options = readOptions(item, { ...kind, required }, "/etc", add);
  return { options, problems: problems.error.problems };
}

const read = (...properties: readonly string[]): ReturnType<typeof readFor> => readFor([], ...properties);

describe("optionProperties", () => {
  it("lists what a page can say, in the spelling of the specification", () => {
    expect([...optionProperties(kind).keys()]).toEqual(["hostRoot", "maxSize", "isOpen", "names"]);
    const parameters = optionProperties({ ...kind, renamed: {}, spelling: "host_root" });
    expect([...parameters.keys()]).toEqual(["root", "max_size", "is_open", "names"]);
  });
});

describe("readOptions", () => {
  it("reads options of every type", async () => {
    const { options, problems } = await read(
      '<meta itemprop="hostRoot" content="site">',
      '<b itemprop="maxSize"> 12\n </b>',
      '<data itemprop="isOpen" value="false">no</data>',
      '<i itemprop="names">a</i> <i itemprop="names">b</i>',
    );
    expect(problems).toEqual([]);
    expect(options).toEqual({ root: resolve("/etc/site"), maxSize: 12, isOpen: false, names: ["a", "b"] });
  });

  it("takes a property in either spelling, and one element for several", async () => {
    expect(
      (await read('<meta itemprop="max_size" content="1">', '<meta itemprop="host_root names" content="/x">')).options,
    ).toEqual({ maxSize: 1, root: resolve("/x"), names: ["/x"] });
  });

  it("passes over what others read", async () => {
    expect(await read('<div itemprop="plugin" itemscope></div>')).toEqual({ options: {}, problems: [] });
  });

  it.each([
    ['<meta itemprop="maxSize" content="big">', 'page:2: maxSize is "big": expected a number'],
    ['<meta itemprop="maxSize">', 'page:2: maxSize is "": expected a number'],
    ['<div itemprop="maxSize" itemscope></div>', "page:2: maxSize is an item: expected a value"],
    [
      '<meta itemprop="maxSize" content="1">\n<meta itemprop="maxSize" content="2">',
      "page:2: maxSize occurs 2 times: expected it once",
    ],
    [
      '<meta itemprop="maxSize" content="1">\n<meta itemprop="max_size" content="1">',
      "page:3: max_size occurs a second time, under another spelling: expected it once",
    ],
    [
      '<meta itemprop="maxSize" content="x">\n<meta itemprop="max_size" content="1">',
      'page:2: maxSize is "x": expected a number',
    ],
    [
      '<meta itemprop="hostRoot" content="http://example.org/">',
      'page:2: hostRoot is "http://example.org/": expected a path or a file:// location',
    ],
    ['<meta itemprop="hostRoot" content=" ">', 'page:2: hostRoot is "": expected a path or a file:// location'],
    ...["logger", "root", "size", "constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"].map((name) => [
      `<meta itemprop="${name}" content="x">`,
      `page:2: there is no "${name}": expected one of plugin, hostRoot, maxSize, isOpen, names`,
    ]),
  ])("refuses %j", async (property, problem) => {
    expect((await read(property as string)).problems[0]).toBe(problem);
  });

  it("reports all that is wrong, and still reads the rest", async () => {
    const { options, problems } = await read(
      '<meta itemprop="maxSize" content="big">',
      '<meta itemprop="size" content="1">',
      '<meta itemprop="isOpen" content="yes">',
      '<meta itemprop="names" content="a">',
    );
    expect(problems.map((problem) => problem.slice(0, 7))).toEqual(["page:2:", "page:3:", "page:4:"]);
    expect(options).toEqual({ names: ["a"] });
  });

  it("does not miss what a page has to have", async () => {
    expect((await readFor(["root"])).problems).toEqual(["page:1: there is no hostRoot: expected a directory"]);
  });
});

describe("optionName", () => {
  it.each([
    ["requests-per_second", "requestsPerSecond"],
    ["requestsPerSecond", "requestsPerSecond"],
    ["constructor", "constructor"],
    ["__proto__", "Proto__"],
    ["a__b", "aB"],
  ])("takes %s for %s", (property, name) => {
    expect(optionName(property)).toBe(name);
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
    ["features", hostOptions.options["listing"] ?? yesOrNo, ["edit true", "zip true"], { edit: true, zip: true }],
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
