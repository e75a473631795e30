// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${username}` is what a rule has where the name goes
import { describe, expect, it } from "vitest";
import { compileSelector } from "../../../src/html/selector/select.ts";
import { compileRuleSelector } from "../../../src/plugins/permissions/rules.ts";

const forUser = (selector: string, username: string): string => compileRuleSelector(selector).of(username);

/** All strings and names in a parsed selector. */
function valuesIn(node: unknown): string[] {
  if (typeof node === "string") return [node];
  return typeof node === "object" && node !== null ? Object.values(node).flatMap(valuesIn) : [];
}

describe("compileRuleSelector", () => {
  it("leaves a selector without `${username}` as it is", () => {
    const { hasUsername, of } = compileRuleSelector('main > p[title="a"]');
    expect([hasUsername, of("ada")]).toEqual([false, 'main > p[title="a"]']);
  });

  it("puts the user's name in every place of `${username}`", () => {
    expect(compileRuleSelector("#${username}").hasUsername).toBe(true);
    expect(forUser('#${username}, [data-owner="${username}"] p', "ada")).toBe('#ada, [data-owner="ada"] p');
    expect(forUser("#user-${username}-box", "ada")).toBe("#user-ada-box");
  });

  it("does not take a name for a pattern of replacement", () => {
    expect(valuesIn(compileSelector(forUser('[a="${username}"]', "$&$1$'")))).toContain("$&$1$'");
  });

  const places: readonly (readonly [string, (name: string) => string])[] = [
    ['[data-owner="${username}"]', (name) => name],
    ["[data-owner='${username}']", (name) => name],
    ["[data-owner=${username}]", (name) => name],
    ["#${username}", (name) => name],
    [".${username}", (name) => name],
    ["#box-${username}", (name) => `box-${name}`],
    ['[data-owner="${username}', (name) => name],
    ["[data-owner='x${username}y' i]", (name) => `x${name}y`],
    [':is(p, #${username}):not([title="\\"${username}"])', (name) => name],
    ["/* ${username} ' */ #${username}", (name) => name],
    ['[title="/*"] #${username}', (name) => name],
  ];
  const hostile = [
    '"] , * , [a="',
    "'] , * , [a='",
    "x] , body",
    "a, b",
    "*",
    "*/ body, /*",
    "\\",
    '\\"',
    "\\22 ",
    "a\nb",
    "%22%5D%2C%2A",
    "1",
    "-",
    "--",
    "_",
    "a b ",
    "😀 é 日本",
    "${username}",
    "$&",
    "::before",
    ")",
    "(",
    "\u007f\u0001",
    "constructor",
  ];

  it.each(places)("keeps every name one value in %s", (selector, expected) => {
    const shape = JSON.stringify(compileSelector(forUser(selector, "SAMPLE")));
    for (const name of hostile) {
      const list = compileSelector(forUser(selector, name));
      expect(valuesIn(list)).toContain(expected(name));
      const place = JSON.stringify(name).slice(1, -1);
      expect(JSON.stringify(list)).toBe(shape.replaceAll("SAMPLE", () => place));
    }
  });

  it.each([
    ["p[", "p["],
    ["p:contains(x)", "offset"],
    ["a,,b", "offset"],
    ["", "CSS selector"],
    [":${username}", "CSS selector"],
    ["${username", "CSS selector"],
    ["%23${username}", "CSS selector"],
    ['[a="\\${username}"]', "without a backslash"],
    ["#\\3${username}", "without a backslash"],
  ])("refuses %j", (selector, expected) => {
    expect(() => compileRuleSelector(selector)).toThrow(expected);
  });
});
