import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  accepts,
  anyOf,
  integer,
  listOf,
  number,
  oneOf,
  optionsOf,
  recordOf,
  type Schema,
  shown,
  text,
  valueThat,
  withRule,
  yesOrNo,
} from "../../src/options/schema.ts";

const short = text("a text", (value) => value.length < 3, "a short text");
const nothing = valueThat((value) => value === null, "nothing");

describe("a schema", () => {
  it.each<[string, Schema, readonly unknown[], readonly unknown[]]>([
    ["a text", text("a text"), ["", "x"], [1, null, undefined, new String("x")]],
    ["a text with a rule", short, ["", "ab"], ["abc", 12]],
    ["a number", number("a number"), [-1.5, 0, 1e300], ["1", Number.NaN, Number.POSITIVE_INFINITY, 1n]],
    ["an integer", integer("an integer", (value) => value > 1), [2, 2 ** 53 - 1], [1, 2.5, 2 ** 53, "2"]],
    ["yes or no", yesOrNo, [true, false], ["true", 1, null]],
    ["one of some strings", oneOf(["a", "b"]), ["a", "b"], ["c", "", undefined, ["a"]]],
    ["any of some schemas", anyOf([short, nothing], "either"), ["ab", null], ["abc", 1]],
    ["a list", listOf(short, "a list"), [[], ["a", "b"]], [["abc"], "ab", { 0: "a", length: 1 }, [undefined]]],
    [
      "a record",
      recordOf(short, "a record"),
      [{}, { anything: "ab" }, Object.create(null), runInNewContext("({})")],
      [[], null, "ab", new Map(), new Date(0), { a: "abc" }],
    ],
    ["a record with rules for names", recordOf(short, "a record", short), [{ a: "b" }], [{ abc: "b" }]],
    [
      "options",
      optionsOf({ a: short, b: nothing }, "options", ["a"]),
      [{ a: "" }, { a: "", b: null }, { a: "", b: undefined }],
      [{}, { a: undefined }, { a: "", c: 1 }, { a: "abc" }, [], null, undefined],
    ],
  ])("of %s takes what fits and nothing else", (_what, schema, right, wrong) => {
    for (const value of right) expect(schema.problemsOf(value)).toEqual([]);
    for (const value of wrong) expect(accepts(schema, value)).toBe(false);
  });

  it("tells a value of another type from one that is out of range", () => {
    expect(short.problemsOf(1)).toEqual([{ path: [], kind: "type", expected: "a text" }]);
    expect(short.problemsOf("abc")).toEqual([{ path: [], kind: "value", expected: "a short text" }]);
  });

  it("tells everything that is wrong, and where", () => {
    const schema = optionsOf({ list: listOf(short, "a list"), record: recordOf(short, "a record", short) }, "options");
    expect(schema.problemsOf({ list: ["abc", "", 3], record: { long: "", a: 1 }, x: 1, y: 2 })).toEqual([
      { path: ["list", 0], kind: "value", expected: "a short text" },
      { path: ["list", 2], kind: "type", expected: "a text" },
      { path: ["record", "long"], kind: "name", expected: "a short text" },
      { path: ["record", "a"], kind: "type", expected: "a text" },
      { path: [], kind: "option", expected: '"x", "y"' },
    ]);
  });

  it("says which strings there are where nobody says it better", () => {
    expect(oneOf(["a", "b"]).problemsOf(1)[0]?.expected).toBe('"a" or "b"');
    expect(oneOf(["a", "b"], "a letter").problemsOf(1)[0]?.expected).toBe("a letter");
  });

  it.each([
    ["rot", '"rot" (did you mean "root"?)'],
    ["Max_files", '"Max_files" (did you mean "maxFiles"?)'],
    ["maxFielSize", '"maxFielSize" (did you mean "maxFileSize"?)'],
    ["ro", '"ro"'],
    ["colour", '"colour"'],
    ["x".repeat(41), `"${"x".repeat(41)}"`],
  ])("suggests the option that %s was meant to be, where one is like it", (name, expected) => {
    const schema = optionsOf({ maxFiles: short, maxFileSize: short, root: short }, "options");
    expect(schema.problemsOf({ [name]: 1 })).toEqual([{ path: [], kind: "option", expected }]);
  });

  it("has no option of the names that every object has", () => {
    const schema = optionsOf({}, "options");
    expect(schema.problemsOf(JSON.parse('{ "constructor": 1, "__proto__": 2 }'))).toEqual([
      { path: [], kind: "option", expected: '"constructor", "__proto__"' },
    ]);
  });

  it("looks at options that another object lends", () => {
    const schema = optionsOf({ a: short }, "options");
    expect(accepts(schema, Object.create({ a: "ab" }))).toBe(true);
    expect(accepts(schema, Object.create({ a: 1 }))).toBe(false);
  });
});

describe("a rule", () => {
  const schema = withRule(optionsOf({ a: short, b: short }, "options"), ({ a, b }: { a?: string; b?: string }) => {
    if (a === undefined) return "an a";
    return a === b ? { path: ["b"], expected: "another text" } : undefined;
  });

  it("can be about the whole, and about a part of it", () => {
    expect(schema.problemsOf({})).toEqual([{ path: [], kind: "value", expected: "an a" }]);
    expect(schema.problemsOf({ a: "x", b: "x" })).toEqual([{ path: ["b"], kind: "value", expected: "another text" }]);
    expect(schema.problemsOf({ a: "x", b: "y" })).toEqual([]);
  });

  it("is not asked about what does not fit already", () => {
    const never = withRule(short, () => expect.unreachable());
    expect(never.problemsOf(3)).toHaveLength(1);
  });

  it("leaves options what they are", () => {
    expect(Object.keys(schema.options)).toEqual(["a", "b"]);
  });
});

describe("a list with holes", () => {
  it("is wrong at each of them", () => {
    const [problem] = listOf(text("a name"), "a list of names").problemsOf(new Array(1));
    expect(problem).toEqual({ path: [0], kind: "type", expected: "a name" });
  });
});

describe("shown", () => {
  it("has no line break, and not more of a text than helps", () => {
    expect(shown('a "b"\n')).toBe('"a \\"b\\"\\n"');
    expect(shown("x".repeat(1000))).toBe(`"${"x".repeat(80)}..."`);
  });
});
