import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importUsers, isOldUsersFile } from "../../../src/config-page/import-config/old-users.ts";
import { allItems, readMicrodataPage } from "../../../src/html/microdata.ts";

import { readMicrodataUsers } from "../../../src/plugins/basic-auth/microdata-users.ts";
import { createPermissions } from "../../../src/plugins/permissions/rules.ts";
import type { Right, SelectedElements } from "../../../src/server/access.ts";
import { checks } from "../../helpers/effort.ts";

type Properties = Readonly<Record<string, string | readonly string[] | undefined>>;

const schema = "https://rustybeam.net/schema";

function item(type: string, properties: Properties): string {
  const cells = Object.entries(properties).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => `<td itemprop="${name}">${value}</td>`),
  );
  return `<tr itemscope itemtype="${type}">${cells.join("")}</tr>`;
}

const page = (...rows: readonly string[]): string => `<!doctype html><table>\n${rows.join("\n")}\n</table>`;
const user = (username: string, role: readonly string[] = [], further: Properties = {}): string =>
  item(`${schema}/Credential`, { username, password: "kiwi", role, ...further });
const rule = (properties: Properties): string =>
  item(`${schema}/AuthorizationRule`, { path: "/*", method: "GET", action: "allow", ...properties });

async function imported(text: string, use = {}) {
  const items = allItems((await readMicrodataPage(text)).items);
  const html = importUsers(items, { hasAuthorization: true, isRulesOnly: false, ...use });
  const found = await readMicrodataUsers(html);
  expect(found.problems).toEqual([]);
  const notes = [...html.matchAll(/<!-- line (\d+): (.*?) -->/g)].map(([, line, note]) => `${line}: ${note}`);
  const users = found.users.map(({ line, ...each }) => each);
  return { html, notes, users, rules: found.rules.map(({ line, ...each }) => each) };
}

describe("a users file of rusty-beam", () => {
  it("is told from one in our words, whatever the vocabulary", async () => {
    const isOld = async (...rows: readonly string[]): Promise<boolean> =>
      isOldUsersFile(allItems((await readMicrodataPage(page(...rows))).items));
    const ours = item(`${schema}/AuthorizationRule`, { username: "*", path: "/*", permission: "allow" });
    expect([await isOld(user("mia")), await isOld(user("mia"), rule({ username: "*" }))]).toEqual([true, true]);
    expect(await isOld(item("https://example.org/AuthorizationRule", { resource: "/*" }))).toBe(true);
    expect(await isOld(user("mia"), ours)).toBe(false);
    expect(await isOld(item("https://example.org/Credential", { username: "mia" }))).toBe(false);
  });

  it("keeps users, passwords and roles, and leaves out who cannot sign in", async () => {
    const hash = "$2y$05$abcdefghijklmnopqrstuuIbXsEzBQSUXn2hP3D6dT6xQe5dKvF7W";
    const { users, notes } = await imported(
      page(
        user("mia", ["editor", "admin"]),
        item("http://rustybeam.net/User", { username: "leo", password: hash }),
        item(`${schema}/Credential`, { username: "ann@fruit.example", role: "user" }),
      ),
    );
    expect(users).toEqual([
      { username: "mia", password: "kiwi", encryption: "plaintext", roles: ["editor", "admin"] },
      { username: "leo", password: hash },
    ]);
    expect(notes).toEqual(["4: the user ann@fruit.example has no password and cannot sign in"]);
  });

  const denyAll = [{ username: "*", path: "/*", permission: "deny" }];
  const read = { rights: ["read", "list"], permission: "allow" };

  it.each<[string, string, readonly object[], string | RegExp]>([
    ["*, who is signed in there", rule({ username: "*" }), [{ ...read, username: ":signed-in", path: "/*" }], ""],
    ["a role that is *", rule({ role: "*" }), [{ ...read, username: ":signed-in", path: "/*" }], ""],
    ["a user name that is a role", rule({ username: "editor" }), [{ ...read, role: "editor", path: "/*" }], ""],
    ["a role that is a user", rule({ role: "mia" }), [{ ...read, username: "mia", path: "/*" }], ""],
    [
      "the directory of the user",
      rule({ username: ":username", path: "/users/:username/*" }),
      [{ ...read, username: ":username", path: "/users/:username/*" }],
      "",
    ],
    [
      "a selector with the name of the user",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what a rule has where the name goes
      rule({ username: "mia", selector: "[title='${ username }']" }),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the same
      [{ ...read, username: "mia", path: "/*", selector: "[title='${username}']" }],
      "",
    ],
    [
      "methods of any case, one of which is none of ours",
      rule({ username: "mia", method: ["put", "POST", "OPTIONS"] }),
      [{ username: "mia", path: "/*", rights: ["create", "overwrite", "append"], permission: "allow" }],
      "",
    ],
    [
      "POST without PUT",
      rule({ username: "mia", method: "POST" }),
      [{ username: "mia", path: "/*", rights: ["append"], permission: "allow" }],
      "",
    ],
    [
      "a deny for names that begin alike",
      rule({ username: "mia", path: "/admin/*", action: undefined }),
      [{ ...read, username: "mia", path: "/admin*/*", permission: "deny" }],
      "",
    ],
    ["no method", rule({ username: "*", method: [] }), denyAll, /had no effect/],
    ["all methods in one word", rule({ username: "*", method: "*" }), denyAll, /had no effect/],
    ["nobody", rule({}), denyAll, /had no effect/],
    ["a user who is none", rule({ username: "a:b" }), denyAll, /had no effect/],
    ["a path that is none", rule({ username: "*", path: "docs/*" }), denyAll, /had no effect/],
    ["a star in a name", rule({ username: "*", path: "/docs*" }), denyAll, /cannot be said here/],
    ["a selector that is none", rule({ username: "*", selector: "p:eq(1)" }), denyAll, /cannot be said here/],
  ])("says in our words what it says of %s", async (_, row, rules, note) => {
    const { rules: made, notes } = await imported(page(user("mia", ["editor"]), row));
    expect(made).toEqual(rules);
    expect(notes.join("\n")).toMatch(note === "" ? /^$/ : note);
  });

  it("refuses everything without any rule where the plugin authorization reads it", async () => {
    expect((await imported(page(user("mia")))).rules).toEqual(denyAll);
    expect((await imported(page(user("mia")), { hasAuthorization: false })).rules).toEqual([]);
  });

  it("leaves out what an earlier deny covered, and keeps what one with a longer path decides here, too", async () => {
    const denied = rule({ username: "*", path: "/docs/*", action: "deny" });
    const { notes, rules } = await imported(page(user("mia"), denied, rule({ username: "*", path: "/docs/open/*" })));
    expect(notes.at(-1)).toBe("4: the rule about * and /docs/open/* is left out, where a deny stood before it");
    expect(rules.map(({ permission }) => permission)).toEqual(["deny"]);
    const kept = await imported(page(user("mia"), denied, rule({ username: "*" })));
    expect(kept.rules).toEqual([
      { ...read, username: ":signed-in", path: "/docs*/*", permission: "deny" },
      { ...read, username: ":signed-in", path: "/*" },
    ]);
  });

  it.each([
    ["a deny below the directories of all users", { role: "editor", path: "/users/:username/*", action: "deny" }],
    ["a deny with a selector of its own kind", { username: "mia", selector: "p:eq(1)", action: "deny" }],
    [
      "a rule that only says permission, which denied there",
      { username: ":username", permission: "allow", action: [] },
    ],
  ])("leaves out %s, with every allow that it stood before", async (_, properties) => {
    const allowed = rule({ username: "*", path: "/*", selector: "selector" in properties ? "p" : undefined });
    const { rules, notes } = await imported(page(user("mia", ["editor"]), rule(properties), allowed));
    expect(rules).toEqual(denyAll);
    expect(notes).toContainEqual(expect.stringMatching(/^3: .* is left out, as it cannot be said here$/));
    expect(notes).toContainEqual(expect.stringMatching(/^4: .* is left out, where a deny stood before it$/));
  });
});

/** Elements of the documents in the property test, by selector. */
const elementsOf: Readonly<Record<string, readonly string[]>> = {
  "#one": ["one"],
  "#two": ["two"],
  p: ["one", "two"],
  "*": ["html", "one", "two"],
};

interface Rule {
  readonly username?: string | undefined;
  readonly role?: string | undefined;
  readonly path: string;
  readonly method: readonly string[];
  readonly selector?: string | undefined;
  readonly action?: string | undefined;
}

interface Client {
  readonly name: string;
  readonly roles: readonly string[];
}

/** What rusty-beam decides: of the rules that apply, the first among those that are most about the user. */
function allowedThere(
  rules: readonly Rule[],
  client: Client,
  method: string,
  path: string,
  selector?: string,
): boolean {
  let best = -1;
  let allows = false;
  for (const { username, role, selector: text = "", ...each } of rules) {
    const who = username ?? role ?? "";
    const isAbout = (text.trim() !== "") === (selector !== undefined);
    const isSelected = (elementsOf[selector ?? ""] ?? []).every((name) => elementsOf[text]?.includes(name));
    if (who === "" || !each.method.some((name) => name.toUpperCase() === method)) continue;
    if (!coversThere(each.path, path) || !isAbout || !isSelected) continue;
    const ranks = [who === "*", client.roles.includes(who), who === ":username", who === client.name];
    const rank = ranks.lastIndexOf(true);
    if (rank <= best) continue;
    best = rank;
    allows = each.action?.toLowerCase() === "allow";
  }
  return allows;
}

function coversThere(pattern: string, path: string): boolean {
  const isTree = pattern.endsWith("/*");
  if (path === pattern || (isTree && path.startsWith(pattern.slice(0, -2)))) return true;
  if (!pattern.includes(":")) return false;
  const names = pattern.split("/").slice(0, isTree ? -1 : undefined);
  const segments = path.split("/");
  if (isTree ? segments.length < names.length : segments.length !== names.length) return false;
  return names.every((name, index) => name.startsWith(":") || name === segments[index]);
}

const names = ["mia", "leo", "editor", "guest", "*", ":username", "ghost", ""];
const places = [
  "/*",
  "/docs/*",
  "/docs/open/*",
  "/docs/a.html",
  "/users/:username/*",
  "/users/:id/private/*",
  "/doc/*",
];
const anyRule: fc.Arbitrary<Rule> = fc.record({
  username: fc.option(fc.constantFrom(...names), { nil: undefined }),
  role: fc.option(fc.constantFrom(...names), { nil: undefined }),
  path: fc.constantFrom(
    ...places,
    "/users/:username",
    "/users/*",
    "/:any/open/*",
    "*",
    "/docs*",
    "docs/*",
    "/a//b",
    "/",
  ),
  method: fc.uniqueArray(fc.constantFrom("GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "*", "put"), {
    maxLength: 4,
  }),
  selector: fc.option(fc.constantFrom("", ...Object.keys(elementsOf)), { nil: undefined, freq: 2 }),
  action: fc.constantFrom("allow", "Allow", "allow", "deny", undefined, "perhaps"),
});
const anyClients: fc.Arbitrary<readonly Client[]> = fc
  .array(fc.subarray(["editor", "guest", "mia"]), { minLength: 3, maxLength: 3 })
  .map((all) => all.map((roles, index) => ({ name: ["mia", "leo", "editor"][index] ?? "", roles })));
const paths = [
  ...["/", "/docs", "/docs/a.html", "/docs/open/b.html", "/docsold/x.html", "/doc/z.html", "/x/open/y.html", "/users/"],
  ...["/users/mia", "/users/mia/a.html", "/users/leo/private/c.html", "/users/mia/private", "/users/leo/deep/d.html"],
];
const rightsByMethod: Readonly<Record<string, readonly Right[]>> = {
  GET: ["read", "list"],
  PUT: ["overwrite", "create"],
  POST: ["append"],
  DELETE: ["delete"],
};

function selected(selector: string): SelectedElements {
  const names = elementsOf[selector] ?? [];
  return {
    areAmong: (other) => names.every((name) => elementsOf[other]?.includes(name)),
    touch: (other) => names.some((name) => elementsOf[other]?.includes(name)),
  };
}

const textOf = (clients: readonly Client[], rules: readonly Rule[]): string =>
  page(
    ...clients.map(({ name, roles }) => user(name, roles)),
    ...rules.map((each) => rule({ action: undefined, ...each })),
  );

describe("the rules of an imported users file", () => {
  it("never allow more than rusty-beam did", async () => {
    let allowed = 0;
    const wider: string[] = [];
    await fc.assert(
      fc.asyncProperty(anyClients, fc.array(anyRule, { maxLength: 7 }), async (clients, rules) => {
        const made = await imported(textOf(clients, rules));
        const permissions = createPermissions(made.rules);
        for (const path of paths) {
          for (const right of Object.values(rightsByMethod).flat()) {
            if (permissions.permits(undefined, right, path)) wider.push(`${right} ${path}\n${made.html}`);
          }
          for (const client of clients) {
            for (const [method, rights] of Object.entries(rightsByMethod)) {
              const isFile = allowedThere(rules, client, method, path);
              const isOpen = rights.some((right) => permissions.permits(client, right, path));
              if (isOpen && !isFile) wider.push(`${method} ${path} by ${client.name}\n${made.html}`);
              if (isOpen) allowed += 1;
              for (const selector of Object.keys(elementsOf)) {
                // Who may read or change a file there has all of its elements, though not one by one.
                const isThere = isFile || allowedThere(rules, client, method, path, selector);
                const isHere = rights.some((right) => permissions.permits(client, right, path, selected(selector)));
                if (isHere && !isThere) wider.push(`${method} ${path} ${selector} by ${client.name}\n${made.html}`);
              }
            }
          }
        }
        expect(wider).toEqual([]);
      }),
      checks({ seed: 22, numRuns: 60, inCampaign: 1_000 }),
    );
    expect(allowed).toBeGreaterThan(100);
  });
});
