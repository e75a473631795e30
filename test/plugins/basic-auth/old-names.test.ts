import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileServer, type FileServer } from "../../../src/file-server.ts";
import { readMicrodataUsers } from "../../../src/plugins/basic-auth/microdata-users.ts";
import { type BasicAuthOptions, basicAuth } from "../../../src/plugins/basic-auth.ts";
import { memoryStorage } from "../../../src/storage/memory/memory-storage.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";

type Properties = Readonly<Record<string, string | readonly string[]>>;

const theirs = "http://rustybeam.net";

function item(type: string, properties: Properties): string {
  const cells = Object.entries(properties).flatMap(([name, values]) =>
    [values].flat().map((value) => `<td itemprop="${name}">${value}</td>`),
  );
  return `<tr itemscope itemtype="${type}">${cells.join("")}</tr>`;
}

const page = (...rows: readonly string[]): string => `<!doctype html><table>\n${rows.join("\n")}\n</table>`;
const user = (properties: Properties = {}): string =>
  item(`${theirs}/User`, { username: "mia", password: "kiwi", encryption: "plaintext", ...properties });
const rule = (properties: Properties): string =>
  item(`${theirs}/AuthorizationRule`, { username: "*", path: "/*", method: "GET", action: "allow", ...properties });

async function read(...rows: readonly string[]) {
  const { users, rules, problems, warnings } = await readMicrodataUsers(page(...rows));
  expect(problems).toEqual([]);
  const bare = rules.map(({ line, isOld, ...each }) => each);
  return { users: users.map(({ line, ...each }) => each), rules: bare, warnings: warnings.map(({ text }) => text) };
}

describe("users of a page of rusty-beam", () => {
  it("are read from items of the type User, which is said once", async () => {
    const { users, warnings } = await read(user({ role: ["editor", "admin"] }), user({ username: "leo" }));
    const password = { password: "kiwi", encryption: "plaintext" };
    expect(users).toEqual([
      { username: "mia", ...password, roles: ["editor", "admin"] },
      { username: "leo", ...password },
    ]);
    expect(warnings).toEqual(["the type User is called Credential here"]);
  });

  it("may have all roles in one property", async () => {
    const { users, warnings } = await read(
      item("https://rustybeam.net/schema/Credential", {
        username: "mia",
        password: "kiwi",
        encryption: "plaintext",
        roles: "<ul>\n <li>admin</li>\n <li>user</li></ul>",
      }),
    );
    expect(users).toMatchObject([{ roles: ["admin", "user"] }]);
    expect(warnings).toEqual(["the property roles is called role here"]);
  });

  it.each([
    item(`${theirs}/User`, { username: "mia@fruit.example", role: "user" }),
    item(`${theirs}/Credential`, { username: "mia@fruit.example", role: "user" }),
  ])("are left out without a password, which is said: %s", async (row) => {
    const { users, warnings } = await read(row);
    expect(users).toEqual([]);
    expect(warnings).toContain('the user "mia@fruit.example" has no password and cannot sign in: the item is left out');
  });

  it("are a mistake without a password in a page of any other vocabulary", async () => {
    const { problems } = await readMicrodataUsers(page(item("https://example.org/Credential", { username: "mia" })));
    expect(problems).toMatchObject([{ text: "there is no password: expected the hash of the password" }]);
  });

  it.each(["User", "Authorization"])("are something else where a type %s is in another vocabulary", async (type) => {
    const { users, rules, warnings } = await read(
      item(`https://example.org/${type}`, { username: "mia", resource: "/" }),
    );
    expect([users, rules, warnings]).toEqual([[], [], []]);
  });
});

describe("rules of a page of rusty-beam", () => {
  const noEffect = "the rule had no effect in rusty-beam, and has none here";
  const deniesMore = "the rule denies more than it did in rusty-beam";

  it.each<[string, string, readonly object[], readonly string[]]>([
    [
      "action",
      rule({ action: "Allow" }),
      [{ username: "*", path: "/*", methods: ["GET"], permission: "allow" }],
      ["the property action is called permission here"],
    ],
    [
      "resource, and the type Authorization",
      item(`${theirs}/Authorization`, {
        username: "mia",
        resource: "/docs/*",
        method: ["GET", "PUT"],
        permission: "allow",
      }),
      [{ username: "mia", path: "/docs/*", methods: ["GET", "PUT"], permission: "allow" }],
      ["the type Authorization is called AuthorizationRule here", "the property resource is called path here"],
    ],
    [
      "no action, which denies",
      item(`${theirs}/AuthorizationRule`, { role: "guest", path: "/a.html", method: "GET" }),
      [{ role: "guest", path: "/a.html", methods: ["GET"], permission: "deny" }],
      ["a rule without action denies, as it did in rusty-beam; here, one without permission allows"],
    ],
    [
      "an empty selector",
      rule({ selector: "" }),
      [{ username: "*", path: "/*", methods: ["GET"], permission: "allow" }],
      [],
    ],
    [
      "a selector",
      rule({ selector: "h1", role: [] }),
      [{ username: "*", path: "/*", methods: ["GET"], selector: "h1", permission: "allow" }],
      [],
    ],
    [
      "methods that there are not",
      rule({ method: ["GET", "patch"] }),
      [{ username: "*", path: "/*", methods: ["GET"], permission: "allow" }],
      ["methods other than GET, HEAD, PUT, POST, DELETE and OPTIONS are left out"],
    ],
    ["* for a method", rule({ method: "*" }), [], [`${noEffect}: no method of it is a single one such as GET`]],
    [
      "several methods in one word",
      rule({ method: "GET,PUT" }),
      [],
      [`${noEffect}: no method of it is a single one such as GET`],
    ],
    ["no method", rule({ method: [] }), [], [`${noEffect}: it has no method`]],
    ["nobody", rule({ username: [] }), [], [`${noEffect}: it has neither username nor role`]],
    ["* for a path", rule({ path: "*" }), [], [`${noEffect}: the path "*" is no path: expected "/*"`]],
    [
      "nobody, who is denied",
      rule({ username: [], path: "*", method: "PUT,POST", action: "deny" }),
      [{ username: "*", path: "/*", methods: ["PUT", "POST"], permission: "deny" }],
      [`${deniesMore}: it has neither username nor role`],
    ],
    [
      "a deny for all methods",
      rule({ method: "*", action: "deny" }),
      [{ username: "*", path: "/*", permission: "deny" }],
      [`${deniesMore}: no method of it is a single one such as GET`],
    ],
    [
      "a deny for a directory, which covered names that begin with its name",
      rule({ path: "/admin/*", action: "deny" }),
      [{ username: "*", path: "/admin*/*", methods: ["GET"], permission: "deny" }],
      [],
    ],
    [
      "a deny for the directories of all users",
      rule({ path: "/users/:username/*", action: "deny" }),
      [{ username: "*", path: "/users/*/*", methods: ["GET"], permission: "deny" }],
      [],
    ],
    [
      "a deny for the owner",
      rule({ username: ":username", path: "/users/:username/*", action: "deny" }),
      [{ username: ":username", path: "/users/:username/*", methods: ["GET"], permission: "deny" }],
      ["a deny for :username is about the user's own directory only here, and an allow for a role comes before it"],
    ],
  ])("are read with %s", async (_, row, rules, texts) => {
    const { warnings, ...found } = await read(row);
    expect(found.rules).toEqual(rules);
    expect(warnings).toEqual(expect.arrayContaining([...texts]));
    const expected = row.includes('"action"') ? ["the property action is called permission here", ...texts] : texts;
    expect(new Set(warnings)).toEqual(new Set(expected));
  });

  it("are a mistake where the action cannot be told, as in a select", async () => {
    const { problems } = await readMicrodataUsers(page(rule({ action: "<i>allow</i> <i>deny</i>" })));
    expect(problems).toMatchObject([{ text: "the permission is unknown: expected one of allow, deny" }]);
  });

  it("are warned of where a deny that stood first was obeyed", async () => {
    const deny = rule({ path: "/docs/*", action: "deny" });
    const allow = rule({ path: "/docs/open/*" });
    const other = rule({ path: "/docs/open/*", method: "PUT" });
    const { warnings } = await readMicrodataUsers(page(deny, other, allow));
    const order = "rusty-beam obeyed the deny of line 2, because it stands first";
    expect(warnings.filter(({ text }) => text.startsWith(order)).map(({ line }) => line)).toEqual([4]);
    const otherWay = await readMicrodataUsers(page(allow, deny));
    expect(otherWay.warnings.filter(({ text }) => text.startsWith("rusty-beam obeyed"))).toEqual([]);
  });

  it("are read as before where they are in our words, whatever the vocabulary", async () => {
    const { rules, warnings } = await read(
      item(`${theirs}/AuthorizationRule`, { username: "*", path: "/admin/*", permission: "deny" }),
    );
    expect([rules, warnings]).toEqual([[{ username: "*", path: "/admin/*", permission: "deny" }], []]);
  });
});

describe("a site behind users of rusty-beam", () => {
  async function site(rows: readonly string[], options: Partial<BasicAuthOptions> = {}) {
    const authfile = join(await temporaryDirectory(), "users.html");
    await writeFile(authfile, page(...rows));
    const warnings: string[] = [];
    const silent = (): void => {};
    const logger = {
      debug: silent,
      info: silent,
      error: silent,
      warn: (_: object, text: string) => warnings.push(text),
    };
    const plugins = [basicAuth({ authfile, ...options })];
    const files: FileServer = createFileServer({ storage: memoryStorage({ "/a.txt": "a" }), plugins, logger });
    onTestFinished(() => files.close());
    await files.ready();
    const ask = async (method: string, path: string, credentials?: string): Promise<number> => {
      const headers: HeadersInit = credentials === undefined ? {} : { authorization: `Basic ${btoa(credentials)}` };
      const { status, body } = await files.fetch(new Request(`http://localhost${path}`, { method, headers }));
      await body?.cancel();
      return status;
    };
    return { ask, warnings, authfile };
  }

  it("stays closed to anonymous clients, and says so", async () => {
    const { ask, warnings, authfile } = await site([user(), rule({})]);
    expect([await ask("GET", "/a.txt"), await ask("OPTIONS", "/a.txt")]).toEqual([401, 401]);
    expect(await ask("GET", "/a.txt", "mia:kiwi")).toBe(200);
    expect(await ask("DELETE", "/a.txt", "mia:kiwi")).toBe(403);
    expect(warnings).toContainEqual(
      expect.stringMatching(
        `^basicAuth: ${authfile}, line 3: the rule allows something to "\\*". In rusty-beam nobody came in without a password`,
      ),
    );
  });

  it.each([
    [true, 401],
    [false, 200],
  ])("with requireUser %j answers anonymous clients with %i, without that warning", async (requireUser, status) => {
    const { ask, warnings } = await site([user(), rule({})], { requireUser });
    expect(await ask("GET", "/a.txt")).toBe(status);
    expect(warnings.filter((each) => each.includes("nobody came in"))).toEqual([]);
  });

  it("is open to them where the rules are in our words", async () => {
    const ours = item(`${theirs}/AuthorizationRule`, { username: "*", path: "/*", method: "GET", permission: "allow" });
    const { ask } = await site([user(), ours]);
    expect(await ask("GET", "/a.txt")).toBe(200);
  });
});
