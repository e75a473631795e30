// biome-ignore-all lint/suspicious/noTemplateCurlyInString: `${username}` is what a rule has where the name goes
import fc, { type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConfigError } from "../../../src/config.ts";
import { checkOptions } from "../../../src/options/check-config.ts";
import type { PermissionRule } from "../../../src/plugins/permissions/rules.ts";
import { createPermissions, ruleSchema } from "../../../src/plugins/permissions/rules.ts";
import type { Right, SelectedElements, User } from "../../../src/server/access.ts";
import { checks } from "../../helpers/effort.ts";

const ada: User = { name: "ada", roles: ["editor"] };
const bob: User = { name: "bob", roles: [] };
const rights: readonly Right[] = ["read", "list", "create", "overwrite", "append", "delete"];

const allow = (rule: Omit<PermissionRule, "permission">): PermissionRule => ({ ...rule, permission: "allow" });
const deny = (rule: Omit<PermissionRule, "permission">): PermissionRule => ({ ...rule, permission: "deny" });
const everything = allow({ username: "*", path: "/*" });

/** Elements that are among what some selectors select, and touch what others do. */
function elements(among: readonly string[], touched: readonly string[] = among): SelectedElements {
  return { areAmong: (selector) => among.includes(selector), touch: (selector) => touched.includes(selector) };
}

/** The rights that rules give somebody. */
function granted(rules: readonly PermissionRule[], user: User | undefined, path: string): Right[] {
  const { permits } = createPermissions(rules);
  return rights.filter((right) => permits(user, right, path));
}

describe("createPermissions", () => {
  it("without rules permits everything to every user and nothing to others", () => {
    expect(granted([], ada, "/x")).toEqual(rights);
    expect(granted([], bob, "/")).toEqual(rights);
    expect(granted([], undefined, "/x")).toEqual([]);
    expect(createPermissions([]).permits(undefined, "read", "/a.html", "any")).toBe(false);
    expect(createPermissions([]).permits(ada, "read", "/a.html", elements([]))).toBe(true);
  });

  it.each([
    [["GET"], ["read", "list"]],
    [["HEAD"], ["read", "list"]],
    [["PUT"], ["create", "overwrite"]],
    [["POST"], ["create", "append"]],
    [["DELETE"], ["delete"]],
    [
      ["GET", "DELETE", "OPTIONS"],
      ["read", "list", "delete"],
    ],
  ])("maps the methods %j to the rights %j", (methods, expected) => {
    expect(granted([allow({ username: "*", path: "/*", methods })], undefined, "/x")).toEqual(expected);
    const others = rights.filter((right) => !expected.includes(right));
    expect(granted([everything, deny({ username: "ada", path: "/*", methods })], ada, "/x")).toEqual(others);
  });

  it("gives an owner the part that is named after the user, and nobody else", () => {
    const rules = [allow({ username: ":username", path: "/users/:username/*" })];
    expect(granted(rules, ada, "/users/ada")).toEqual(rights);
    expect(granted(rules, ada, "/users/ada/x")).toEqual(rights);
    expect(granted(rules, bob, "/users/ada/x")).toEqual([]);
    expect(granted(rules, undefined, "/users/ada/x")).toEqual([]);
    expect(granted(rules, ada, "/users/")).toEqual([]);
    expect(granted([allow({ role: "editor", path: "/users/:username/*" })], ada, "/users/ada/x")).toEqual(rights);
    expect(granted([allow({ role: "editor", path: "/users/:username/*" })], ada, "/users/bob/x")).toEqual([]);
  });

  it.each(["*", ":username", "..", "a/b", "ada/*", "", "ADA", "ada ", "__proto__", "constructor"])(
    "gives a user named %j none of what others have",
    (name) => {
      const rules = [
        allow({ username: ":username", path: "/users/:username/*" }),
        allow({ username: "ada", path: "/*" }),
        allow({ role: "editor", path: "/docs/*" }),
        allow({ username: "*", path: "/a.html", selector: "#${username}" }),
      ];
      const { permits } = createPermissions(rules);
      const user = { name, roles: ["*", ":username", "__proto__"] };
      for (const path of ["/", "/docs/x", "/users/", "/users/ada", "/users/ada/x", "/users/a/b", "/etc"]) {
        expect(permits(user, "read", path)).toBe(false);
      }
      expect(permits(user, "read", "/a.html", elements(["#ada", "#"]))).toBe(false);
    },
  );

  it("does not take a user who is called * for everybody", () => {
    const rules = [allow({ username: "*", path: "/*" }), deny({ role: "editor", path: "/*" })];
    expect(granted(rules, { name: "*", roles: ["editor"] }, "/x")).toEqual([]);
  });

  describe("by elements", () => {
    const own = allow({ username: "*", path: "/*", selector: '[data-owner="${username}"]' });
    const secret = deny({ username: "*", path: "/*", selector: ".secret" });

    it("applies a deny with a selector to whole documents, which hold those elements, and to no other file", () => {
      for (const path of ["/a.html", "/a.htm", "/A.HTML", "/a.svg", "/a.xml", "/a.xhtml"]) {
        expect(granted([everything, secret], ada, path)).toEqual([]);
      }
      for (const path of ["/a.txt", "/docs/", "/html", "/"]) {
        expect(granted([everything, secret], ada, path)).toEqual(rights);
      }
    });

    it("before the elements are known, counts an allow with a selector as yes and passes over a deny with one", () => {
      expect(createPermissions([own]).permits(ada, "read", "/a.html", "any")).toBe(true);
      expect(createPermissions([everything, secret]).permits(ada, "read", "/a.html", "any")).toBe(true);
      expect(createPermissions([secret]).permits(ada, "read", "/a.html", "any")).toBe(false);
      expect(createPermissions([deny({ username: "*", path: "/*" })]).permits(ada, "read", "/a.html", "any")).toBe(
        false,
      );
    });

    it("does not apply a rule with the user's name in its selector to anonymous requests", () => {
      const { permits } = createPermissions([own, deny({ ...own, path: "/x/*" }), everything]);
      expect(createPermissions([own]).permits(undefined, "read", "/a.html", "any")).toBe(false);
      expect(createPermissions([own]).permits(undefined, "read", "/a.html", elements(['[data-owner=""]']))).toBe(false);
      expect(permits(undefined, "read", "/x/a.html")).toBe(true);
    });

    it("quotes the user's name", () => {
      const name = '"], * , [a="';
      const asked: string[] = [];
      const spy: SelectedElements = { areAmong: (selector) => asked.push(selector) > 0, touch: () => false };
      createPermissions([own]).permits({ name, roles: [] }, "read", "/a.html", spy);
      expect(asked).toEqual(['[data-owner="\\"\\]\\,\\ \\*\\ \\,\\ \\[a\\=\\""]']);
    });
  });

  it("agrees with a direct reading of the order of rules", () => {
    fc.assert(
      fc.property(
        fc.array(anyRule, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(undefined, ...people),
        fc.constantFrom(...rights),
        fc.constantFrom(...paths),
        fc.constantFrom<SelectedElements | "any" | undefined>(
          undefined,
          "any",
          elements([]),
          elements(["#ada", ".x"]),
          elements([], ["#ada"]),
          elements([".x"], [".x", "#bob"]),
        ),
        (rules, user, right, path, chosen) => {
          const expected = decideByTheBook(rules, user, right, path, chosen);
          expect(createPermissions(rules).permits(user, right, path, chosen)).toBe(expected);
        },
      ),
      checks({ seed: 22, numRuns: 800, inCampaign: 80_000 }),
    );
  });
});

describe("ruleSchema", () => {
  const problemsOf = (rule: unknown): readonly string[] => {
    try {
      checkOptions("basicAuth", ruleSchema, rule);
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };

  it.each<PermissionRule>([
    everything,
    deny({ role: "*", path: "/" }),
    allow({ username: ":username", path: "/users/:username/*", rights: ["read"], selector: undefined }),
    allow({ username: "*", path: "/*", methods: ["GET", "OPTIONS"], role: undefined }),
    allow({ username: "*", path: "/*", selector: '[data-owner="${username}"]' }),
  ])("takes %j", (rule) => {
    expect(problemsOf(Object.freeze(rule))).toEqual([]);
  });

  it.each<[unknown, string]>([
    [{ ...everything, username: undefined }, "expected either a username or a role"],
    [{ ...everything, role: "x" }, "expected either a username or a role"],
    [{ ...everything, username: "" }, 'username is "": expected a string that is not empty'],
    [{ ...everything, path: "docs" }, 'path is "docs": expected a path that begins with "/"'],
    [{ ...everything, path: undefined }, 'path is undefined: expected a path such as "/docs/*"'],
    [{ ...everything, username: ":username" }, 'expected a path with the segment ":username"'],
    [{ ...everything, username: ":signedin" }, 'expected a username, ":username", ":signed-in" or "*"'],
    [{ ...everything, username: ":username", path: "x" }, 'path is "x": expected a path that begins with "/"'],
    [{ ...everything, methods: ["GET"], rights: ["read"] }, "expected methods or rights, not both"],
    [
      { ...everything, methods: ["FETCH"] },
      'methods[0] is "FETCH": expected GET, HEAD, PUT, POST, DELETE, PATCH or OPTIONS',
    ],
    [{ ...everything, methods: [] }, "methods is []: expected at least one method"],
    [{ ...everything, methods: ["OPTIONS"] }, "expected more than OPTIONS"],
    [{ ...everything, rights: ["write"] }, 'rights[0] is "write": expected read, list, create'],
    [{ username: "*", path: "/*" }, 'permission is undefined: expected "allow" or "deny"'],
    [{ ...everything, selector: "p:foo" }, 'selector is "p:foo": expected a CSS selector: '],
    [{ ...everything, selector: "" }, 'selector is "": expected a string that is not empty'],
    [{ ...everything, allow: true }, 'has no option "allow"'],
    ["all", "expected a rule: an object with username or role, path and permission"],
  ])("says what is wrong with %j", (rule, expected) => {
    expect(problemsOf(rule).join("; ")).toContain(expected);
    expect(problemsOf(rule).join("; ")).toMatch(/^basicAuth: /);
  });
});

// A second opinion on the rules, written for nothing but being read. It knows only the paths and selectors here.

const people: readonly User[] = [ada, bob, { name: "eve", roles: ["editor", "author"] }, { name: "*", roles: [] }];
const paths = ["/", "/docs", "/docs/", "/docs/a.html", "/docs/a.txt", "/users/ada", "/users/ada/x.html", "/users/bob/"];
const patterns = [
  "/",
  "/*",
  "/docs",
  "/docs/*",
  "/docs/*.html",
  "/docs/a.*",
  "/users/*",
  "/users/:username/*",
  "/users/*/*.html",
];

const anyRule: Arbitrary<PermissionRule> = fc
  .record({
    who: fc.constantFrom(
      { username: "ada" },
      { username: "bob" },
      { username: ":username" },
      { username: "*" },
      { role: "editor" },
      { role: "author" },
    ),
    path: fc.constantFrom(...patterns),
    what: fc.oneof(
      fc.constant({}),
      fc.record({ methods: fc.subarray(["GET", "HEAD", "PUT", "POST", "DELETE"], { minLength: 1 }) }),
      fc.record({ rights: fc.subarray([...rights], { minLength: 1 }) }),
    ),
    selector: fc.constantFrom(undefined, undefined, "#${username}", ".x"),
    permission: fc.constantFrom("allow" as const, "deny" as const),
  })
  .map(({ who, path, what, selector, permission }) => {
    const isOwner = "username" in who && who.username === ":username";
    return { ...who, path: isOwner ? "/users/:username/*" : path, ...what, selector, permission };
  });

function decideByTheBook(
  rules: readonly PermissionRule[],
  user: User | undefined,
  right: Right,
  path: string,
  chosen: SelectedElements | "any" | undefined,
): boolean {
  const methodRights: Record<string, string> = {
    GET: "read list",
    HEAD: "read list",
    PUT: "create overwrite",
    POST: "append create",
    DELETE: "delete",
  };
  const isAbout = (rule: PermissionRule): boolean => {
    if (rule.rights && !rule.rights.includes(right)) return false;
    if (rule.methods && !rule.methods.some((each) => methodRights[each]?.split(" ").includes(right))) return false;
    if (rule.role !== undefined && !user?.roles.includes(rule.role)) return false;
    if (rule.username === "ada" || rule.username === "bob") {
      if (user?.name !== rule.username) return false;
    }
    if (!user && rule.path.includes(":username")) return false;
    const source = rule.path
      .replace(/\/\*$/, "(/.*)?")
      .replace(/(?<!\.)\*(?!\.|\)|$)/g, "[^/]+")
      .replace(/\/\*\.html/, "/[^/]*\\.html")
      .replace("a.*", "a\\.[^/]*")
      .replace(":username", user?.name === "*" ? "\\*" : (user?.name ?? ""));
    if (!new RegExp(`^(?:${source})/?$`).test(path)) return false;
    if (rule.selector === undefined) return true;
    if (!user && rule.selector.includes("$")) return false;
    const selector = rule.selector === ".x" ? ".x" : `#${user?.name === "*" ? "\\*" : user?.name}`;
    if (rule.permission === "allow") return chosen === "any" || (chosen?.areAmong(selector) ?? false);
    if (chosen === "any") return false;
    return chosen ? chosen.touch(selector) : /\.html$/.test(path);
  };
  const rank = (rule: PermissionRule): readonly number[] => [
    rule.role !== undefined ? 1 : rule.username === "*" ? 3 : rule.username === ":username" ? 2 : 0,
    rule.selector === undefined ? 1 : 0,
    -(
      rule.path.replace(/\/\*$/, "").replace(":username", "").replaceAll("*", "").length +
      (rule.path.endsWith("/*") ? 0 : 1)
    ),
    rule.permission === "deny" ? 0 : 1,
  ];
  const ranked = rules.filter(isAbout).map((rule) => ({ rule, key: rank(rule) }));
  let best = ranked[0];
  for (const each of ranked) {
    const difference = each.key.map((part, index) => part - (best?.key[index] ?? 0)).find((part) => part !== 0) ?? 0;
    if (difference < 0) best = each;
  }
  return best?.rule.permission === "allow";
}
