import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../src/config.ts";
import { readUsersFile } from "../../../src/plugins/basic-auth/users-file.ts";
import { temporaryDirectory } from "../../helpers/temporary-directory.ts";
import { usersPage } from "./users-page.ts";

const hash = "$2y$10$zZJCJmInOxNMDqkjPpSJQOyQKTfOXyMSUzglWTpM94ryUFV4jLspa";

async function file(content: string | Uint8Array, name = "users"): Promise<string> {
  const path = join(await temporaryDirectory(), name);
  await writeFile(path, content);
  return path;
}

async function problemsOf(location: string): Promise<readonly string[]> {
  const error: unknown = await readUsersFile(location).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  return error instanceof ConfigError ? error.problems : [];
}

describe("readUsersFile", () => {
  it("reads htpasswd, given as a path or a URL", async () => {
    const path = await file(`ada:${hash}\n`);
    const expected = { users: [{ record: { username: "ada", password: hash } }], rules: [], warnings: [] };
    expect(await readUsersFile(path)).toMatchObject(expected);
    expect(await readUsersFile(pathToFileURL(path).href)).toMatchObject(expected);
  });

  it.each(["users", "users.html", "users.htpasswd"])(
    "reads microdata from a file %s that looks like HTML",
    async (name) => {
      const { users, rules, warnings } = await readUsersFile(await file(`\n \t${usersPage}`, name));
      expect(users.map(({ record }) => record.username)).toEqual(["ada", "grace"]);
      expect(rules).toHaveLength(5);
      expect(warnings.join()).toContain("grace"); // SHA-1 without salt
    },
  );

  it.each(["users.html", "users.HTM"])("reads microdata from %s whatever it looks like", async (name) => {
    const path = await file(`ada:${hash}`, name);
    expect(await problemsOf(path)).toEqual([
      `${path}: there are no users: expected at least one item of a type that ends in /Credential`,
    ]);
  });

  it("does not mind a byte order mark in either format", async () => {
    const htpasswd = await readUsersFile(await file(`\ufeffada:${hash}\r\n`));
    expect(htpasswd.users).toMatchObject([{ record: { username: "ada", password: hash } }]);
    const html = await readUsersFile(await file(`\ufeff${usersPage.replaceAll("\n", "\r\n")}`));
    expect(html.users.map(({ record }) => record.username)).toEqual(["ada", "grace"]);
  });

  it("names the file as it was given, the line, and what was expected, for all problems in order", async () => {
    const path = pathToFileURL(await file(`ada:${hash}\nhunter2\nada:${hash}\nbob:\n`)).href;
    expect(await problemsOf(path)).toEqual([
      `${path}, line 2: there is no colon: expected name:hash`,
      `${path}, line 3: the user name "ada" stands in line 1 already: expected another one`,
      `${path}, line 4: user "bob" has no password: expected a hash after the colon`,
    ]);
    await expect(readUsersFile(path)).rejects.toThrow(/invalid configuration: .*line 2: .*; .*line 3: .*; .*line 4: /);
  });

  it("warns with file and line", async () => {
    const path = await file("ada:$2b$04$qlQMrZ9jPfYboyj16vE2S.OImxm03fqCb5ivqpGoXgL6jQco4WBEy\n\n\nbob:hunter3\n");
    const { users, warnings } = await readUsersFile(path);
    expect(users).toMatchObject([
      { record: { username: "ada" } },
      { record: { username: "bob", password: "hunter3" } },
    ]);
    expect(warnings).toEqual([
      expect.stringMatching(/users, line 1: user "ada": .*cost 4/),
      expect.stringMatching(/users, line 4: user "bob": .*never matches/),
    ]);
    expect(warnings.join()).not.toContain("hunter");
  });

  it("does not tell of more than 50 problems", async () => {
    const problems = await problemsOf(await file("x\n".repeat(1000)));
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)).toMatch(/further problems are not listed$/);
  });

  it("refuses a name that is there already in another spelling of Unicode", async () => {
    const path = await file(`\u00e9:${hash}\ne\u0301:${hash}\nE:${hash}\n`);
    expect(await problemsOf(path)).toEqual([
      `${path}, line 2: the user name "e\u0301" stands in line 1 already: expected another one`,
    ]);
  });

  it("warns once of all users with the same weakness, and of rules about nobody", async () => {
    const row = (type: string, properties: Readonly<Record<string, string>>): string =>
      `<p itemscope itemtype="x/${type}">${Object.entries(properties)
        .map(([name, value]) => `<b itemprop="${name}">${value}</b>`)
        .join("")}`;
    const users = [1, 2, 3].map((i) =>
      row("Credential", { username: `u${i}`, password: "x", encryption: "plaintext", role: "editor" }),
    );
    const whom = [
      { username: "u4" },
      { role: "editors" },
      { role: "editor" },
      { username: "*" },
      { username: ":username" },
    ];
    const rules = whom.map((each) => row("AuthorizationRule", { ...each, path: "/:username/*" }));
    const { warnings } = await readUsersFile(await file([...users, ...rules].join("\n")));
    expect(warnings.map((warning) => warning.replace(/.*, line /, ""))).toEqual([
      expect.stringMatching(/^1: user "u1" and 2 more: .*plain text/),
      '4: the rule is about the user "u4", but there is no such user',
      '5: the rule is about the role "editors", which no user has',
    ]);
  });

  it("refuses a file that is not there", async () => {
    const path = join(await temporaryDirectory(), "none");
    expect(await problemsOf(path)).toEqual([`${path}: the file does not exist: expected a file`]);
    expect(await problemsOf(join(await file("x"), "below"))).toEqual([
      expect.stringContaining("the file does not exist"),
    ]);
  });
});
