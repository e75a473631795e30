import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePathPattern } from "../../src/http/path-pattern.ts";
import { checks } from "../helpers/effort.ts";

const matches = (pattern: string, path: string, username?: string): boolean =>
  compilePathPattern(pattern).matches(path, username);

describe("compilePathPattern", () => {
  it.each<[pattern: string, covered: readonly string[], others: readonly string[]]>([
    ["/docs/*", ["/docs", "/docs/", "/docs/a/b/c.html"], ["/", "/docs-old", "/docs-old/a", "/Docs/a", "/x/docs/a"]],
    ["/*", ["/", "/a", "/a/b/"], ["*"]],
    ["/", ["/"], ["/a"]],
    ["/a.txt", ["/a.txt"], ["/abtxt"]],
    ["/docs", ["/docs/"], ["/docs/a"]],
    ["/docs/", ["/docs"], []],
    ["/docs/*.html", ["/docs/a.html", "/docs/.html"], ["/docs/a.htm", "/docs/a.html/b", "/docs/b/a.html"]],
    ["/docs/*/", ["/docs/a", "/docs/a/"], ["/docs", "/docs/a/b"]],
    ["/docs/a*b*c", ["/docs/a--b--c", "/docs/abbcc"], ["/docs/acb"]],
    ["/docs/ab*ba", ["/docs/abba"], ["/docs/aba"]],
    ["/docs/a*", ["/docs/a"], []],
    ["/docs/*a", ["/docs/aa"], []],
    ["/u/*/public/*", ["/u/ada/public", "/u/ada/public/x/y"], ["/u/public", "/u/ada/private", "/u/"]],
    ["/a b/é/*", ["/a b/é/日本"], []],
    ["/x[1]?.(txt)", ["/x[1]?.(txt)"], []],
    ["/:username/*", [], ["*"]],
    ["/a*", [], ["*"]],
  ])("has %s cover %j, and not %j", (pattern, covered, others) => {
    expect(covered.filter((path) => !matches(pattern, path))).toEqual([]);
    expect(others.filter((path) => matches(pattern, path))).toEqual([]);
  });

  it("takes `:username` for the segment that is the user's name, and for no other", () => {
    expect(matches("/users/:username/*", "/users/ada", "ada")).toBe(true);
    expect(matches("/users/:username/*", "/users/ada/", "ada")).toBe(true);
    expect(matches("/users/:username/*", "/users/ada/x/y", "ada")).toBe(true);
    expect(matches("/users/:username", "/users/ada/x", "ada")).toBe(false);
    expect(matches("/users/:username/*", "/users/ada2/x", "ada")).toBe(false);
    expect(matches("/users/:username/*", "/users/Ada/x", "ada")).toBe(false);
    expect(matches("/users/:username/*", "/users/", "ada")).toBe(false);
    expect(matches("/users/:username/*", "/users/:username/x", "ada")).toBe(false);
    expect(matches("/users/:username/*", "/users/ada/x")).toBe(false);
    expect(matches("/users/:username/*", "/users/undefined/x")).toBe(false);
    expect(matches("/:username/to/:username", "/ada/to/ada", "ada")).toBe(true);
    expect(matches("/:username/to/:username", "/ada/to/bob", "ada")).toBe(false);
  });

  it.each(["*", "a*", "**", "..", ".", "", "a/b", "/", "a/*", ":username", "^.*$", ".*"])(
    "gives a user named %j nothing but a segment of just that name",
    (username) => {
      for (const path of ["/users/ada", "/users/ada/x", "/users/", "/users", "/", "/users/a/b"]) {
        expect(matches("/users/:username/*", path, username)).toBe(false);
      }
    },
  );

  it("counts the characters that stand for themselves, and one for an end that is one", () => {
    const patterns = "/* / /docs/* /docs /docs/*/* /docs/:username/* /docs/*.html /docs/a.html".split(" ");
    const lengths = patterns.map((pattern) => compilePathPattern(pattern).literalLength);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(compilePathPattern("/docs").literalLength).toBeGreaterThan(compilePathPattern("/docs/*").literalLength);
    expect(compilePathPattern("/docs/").literalLength).toBe(compilePathPattern("/docs").literalLength);
  });

  it.each([
    ["", 'begins with "/"'],
    ["docs/*", 'begins with "/"'],
    ["/a//b", "without empty"],
    ["/a/../b", "without empty"],
    ["/a/..", "without empty"],
    ["/a\\b", "without backslashes"],
    ["/a\u0000b", "without backslashes"],
    ["/**", '"**"'],
    ["/a/**/b", '"**"'],
    ["/~:username/*", '":username" is a whole segment'],
    ["/:user/*", '":username" is a whole segment'],
  ])("refuses %j", (pattern, expected) => {
    expect(() => compilePathPattern(pattern)).toThrow(expected);
  });

  it("answers at once where a regular expression would try for ever", () => {
    const hostile = compilePathPattern(`/${"*a".repeat(120)}*b/*`);
    const path = `/${"a".repeat(255)}/${"a/".repeat(1900)}`;
    expect(hostile.matches(path)).toBe(false);
  });

  it("agrees with the same pattern as a regular expression", () => {
    const segment = fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 5 });
    const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 6 });
    const pattern = fc.tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.constantFrom("", "/", "/*"));
    const path = fc.tuple(fc.array(name, { maxLength: 4 }), fc.constantFrom("", "/"));
    fc.assert(
      fc.property(pattern, path, ([segments, ending], [names, slash]) => {
        const text = `/${segments.join("/").replaceAll(/\*+/g, "*")}${ending}`;
        const isTree = text.endsWith("/*");
        const source = (isTree ? text.slice(0, -2) : text.replace(/\/$/, ""))
          .replaceAll(/(?<=\/)\*(?=\/|$)/g, "[^/]+")
          .replaceAll("*", "[^/]*");
        const expected = new RegExp(`^${source}${isTree ? "(?:/.*)?" : "/?"}$`);
        const asked = names.length === 0 ? "/" : `/${names.join("/")}${slash}`;
        expect(matches(text, asked)).toBe(expected.test(asked));
      }),
      checks({ seed: 20, numRuns: 1_000, inCampaign: 12_000 }),
    );
  });
});
