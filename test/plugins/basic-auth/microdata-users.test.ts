import { describe, expect, it } from "vitest";
import { readMicrodataUsers } from "../../../src/plugins/basic-auth/microdata-users.ts";
import { usersPage } from "./users-page.ts";

const credential = (properties: string): string =>
  `<p itemscope itemtype="https://example.org/Credential">${properties}</p>`;
const rule = (properties: string): string =>
  `<p itemscope itemtype="https://example.org/AuthorizationRule">${properties}</p>`;
const property = (name: string, value: string): string => `<b itemprop="${name}">${value}</b>`;
const who = property("username", "ada");
const path = property("path", "/docs/*");

describe("readMicrodataUsers", () => {
  it("reads a page that people read as well", async () => {
    const { users, rules, problems, warnings } = await readMicrodataUsers(usersPage);
    expect([problems, warnings]).toEqual([[], []]);
    expect(users.map(({ line, ...user }) => user)).toEqual([
      { username: "ada", password: expect.stringMatching(/^\$2y\$/), encryption: "bcrypt", roles: ["editor", "admin"] },
      { username: "grace", password: "{SHA}lcsL/Sl3x2EpjZYk5LTUxyo5l0o=" },
    ]);
    expect(rules.map(({ line, ...each }) => each)).toEqual([
      { role: "editor", path: "/docs/*", methods: ["GET", "PUT", "POST"], permission: "allow" },
      { role: "editor", path: "/drafts/*", methods: ["GET", "PUT", "POST"], permission: "allow" },
      { username: "*", path: "/*", rights: ["read", "list"], permission: "allow" },
      { username: ":username", path: "/users/:username/*", permission: "allow" },
      { username: "grace", path: "/docs/*", selector: "#secret", permission: "deny" },
    ]);
  });

  it("finds users in the items that make up a page, and ignores those", async () => {
    const page = `<main itemscope itemtype="https://schema.org/WebPage"><b itemprop="name">Users</b>
      <div itemprop="hasPart" itemscope itemtype="Thing">${credential(who + property("password", "x"))}
      <p itemprop="part" itemscope itemtype="x/y#z Credential">${property("username", "bob")}<data itemprop="password" value="y"></data></p>
      </div></main>`;
    const { users, problems, warnings } = await readMicrodataUsers(page);
    expect([problems, warnings]).toEqual([[], []]);
    expect(users).toEqual([
      { username: "ada", password: "x", line: 2 },
      { username: "bob", password: "y", line: 3 },
    ]);
  });

  it("takes white space around a value away, and each word once", async () => {
    const { users, rules } = await readMicrodataUsers(
      credential(
        `${property("username", "\n  ada b \n")}<meta itemprop="password" content=" x ">` +
          property("role", " r ") +
          property("role", "r"),
      ) +
        rule(who + path + property("method", "GET, PUT  PUT\nGET")) +
        rule(who + path + property("right", "read,list") + property("right", "list") + property("right", "append")),
    );
    expect(users).toEqual([{ username: "ada b", password: "x", roles: ["r"], line: 1 }]);
    expect(rules).toMatchObject([{ methods: ["GET", "PUT"] }, { rights: ["read", "list", "append"] }]);
  });

  it("knows the word argon2id for argon2", async () => {
    const item = credential(who + property("password", "x") + property("encryption", "argon2id"));
    expect((await readMicrodataUsers(item)).users).toMatchObject([{ encryption: "argon2" }]);
  });

  it.each([
    [credential(who), "there is no password: expected the hash of the password"],
    [credential(property("password", "x")), "there is no username: expected the name of the user"],
    [credential(who + property("password", " ")), "password is empty: expected a text, or no such property"],
    [credential(who + who + property("password", "x")), "there is more than one username: expected one"],
    [credential(property("username", "a:b") + property("password", "x")), 'the user name "a:b" has a colon'],
    [credential(`${who}<b itemprop="password" itemscope></b>`), "password is an item: expected text"],
    [
      credential(who + property("password", "x") + property("passwd", "y")),
      'there is no property "passwd": expected one of username, password, encryption, role',
    ],
    [credential(who + property("password", "x") + property("role", "a, b")), 'role is "a, b": expected one role'],
    [rule(path), "the rule: expected either a username or a role"],
    [rule(who), 'there is no path: expected what the rule is about, such as "/docs/*"'],
    [rule(property("username", ":owner") + path), 'the user name ":owner" has a colon'],
    [rule(who + property("path", "docs")), 'path: expected a path that begins with "/"'],
    [rule(who + path + property("method", "get")), "method: expected GET, HEAD, PUT"],
    [rule(who + path + property("method", ",")), "method: expected at least one word"],
    [rule(who + path + property("selector", "")), "selector is empty: expected a text, or no such property"],
    [rule(who + path + property("permission", "Deny")), 'permission: expected "allow" or "deny"'],
    [rule(who + path + property("permission", "deny") + property("permission", "allow")), "more than one permission"],
    [rule(who + path + property("methods", "GET")), 'there is no property "methods": expected one of username, role'],
  ])("refuses %s", async (item, text) => {
    const found = await readMicrodataUsers(`\n\n${item}`);
    expect(found.problems).toHaveLength(1);
    expect(found.problems[0]?.line).toBe(3);
    expect(found.problems[0]?.text).toContain(text);
    expect([...found.users, ...found.rules]).toEqual([]);
  });

  it("tells of several problems of one item", async () => {
    const { problems } = await readMicrodataUsers(rule(property("method", ",") + property("x", "y")));
    expect(problems).toHaveLength(3);
  });

  it("takes microdata that belongs to nothing for a problem: it may be a rule", async () => {
    const { problems } = await readMicrodataUsers(`<div><tr itemscope itemtype="x/AuthorizationRule">\n${path}</div>`);
    expect(problems.map(({ line }) => line)).toEqual([1, 2]);
  });

  it("takes a page that cannot be read to its end for a problem", async () => {
    const { users, problems } = await readMicrodataUsers(`${credential(who)}\n${"<div>".repeat(600)}`);
    expect(users).toEqual([]);
    expect(problems).toEqual([{ line: 2, text: "the page nests elements more than 512 levels deep" }]);
  });

  it.each([
    [
      '<p itemscope itemtype="x/AuthorisationRule"><b itemprop="permission">deny</b></p>',
      'is of the type "x/AuthorisationRule"',
    ],
    ['<p itemscope itemtype="x/credential"><b itemprop="password">x</b></p>', 'is of the type "x/credential"'],
    ['<p itemscope><b itemprop="password">x</b></p>', "has no type"],
  ])("warns of %s, which looks like what it is not", async (item, text) => {
    const { problems, warnings } = await readMicrodataUsers(item);
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      {
        line: 1,
        text: `the item ${text} and is not read: expected a type that ends in /Credential or /AuthorizationRule`,
      },
    ]);
  });

  it.each([
    ["a user", `<p itemscope itemtype="http://rustybeam.net/User">${property("username", "mia")}`],
    ["a rule that denies unless it says more", rule(who + path).replace("example.org", "rustybeam.net/schema")],
    ["a rule of the first version", `<p itemscope itemtype="http://rustybeam.net/Authorization">${who}`],
    ["an action", rule(who + path + property("action", "allow"))],
    ["a resource", rule(who + property("resource", "/docs/*"))],
    ["roles in one property", credential(who + property("password", "x") + property("roles", "a b"))],
  ])("takes nothing from a file with words of rusty-beam, and names the command for it: %s", async (_, text) => {
    const { problems } = await readMicrodataUsers(credential(who + property("password", "x")) + text);
    expect(problems).toContainEqual({
      line: 1,
      text: expect.stringMatching(/^the file is written for rusty-beam: filement import-config/),
    });
  });

  it("reads our words in any vocabulary", async () => {
    const text = rule(who + path + property("permission", "deny")).replace("example.org", "rustybeam.net");
    const { problems, rules } = await readMicrodataUsers(text);
    expect([problems, rules]).toMatchObject([[], [{ username: "ada", path: "/docs/*", permission: "deny" }]]);
  });
});
