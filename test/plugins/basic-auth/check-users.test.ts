import { describe, expect, it } from "vitest";
import { checkUsers } from "../../../src/plugins/basic-auth/check-users.ts";
import { type FoundUsers, nothingFound } from "../../../src/plugins/basic-auth/found-users.ts";

const password = "$2y$10$zZJCJmInOxNMDqkjPpSJQOyQKTfOXyMSUzglWTpM94ryUFV4jLspa";
const found = (parts: Partial<FoundUsers>): FoundUsers => ({ ...nothingFound(), ...parts });

describe("checkUsers", () => {
  it("gives users and rules without their lines", async () => {
    const checked = await checkUsers(
      found({
        users: [{ username: "ada", password, roles: ["r"], line: 3 }],
        rules: [{ role: "r", path: "/x/*", permission: "allow", line: 9 }],
      }),
    );
    expect(checked).toEqual({
      users: [{ username: "ada", password, roles: ["r"] }],
      rules: [{ role: "r", path: "/x/*", permission: "allow" }],
      problems: [],
      warnings: [],
    });
  });

  it("refuses a name that is there already, also in another spelling of Unicode", async () => {
    const names = ["ada", "\u00e9", "ada", "e\u0301", "Ada"];
    const users = names.map((username, i) => ({ username, password, line: i + 1 }));
    const { problems } = await checkUsers(found({ users }));
    expect(problems).toEqual([
      { line: 3, text: 'the user name "ada" stands in line 1 already: expected another one' },
      { line: 4, text: 'the user name "e\u0301" stands in line 2 already: expected another one' },
    ]);
  });

  it("keeps a hash of no known format, with a warning", async () => {
    const { users, problems, warnings } = await checkUsers(
      found({ users: [{ username: "ada", password: "hunter2", line: 4 }] }),
    );
    expect(users).toEqual([{ username: "ada", password: "hunter2" }]);
    expect(problems).toEqual([]);
    expect(warnings).toEqual([{ line: 4, text: expect.stringMatching(/^user "ada": .*no known format/) }]);
  });

  it("warns of plain text once for all users that have it", async () => {
    const users = Array.from({ length: 8 }, (_, i) => {
      return { username: `u${i}`, password: "hunter2", encryption: "plaintext" as const, line: i + 2 };
    });
    const { warnings } = await checkUsers(found({ users }));
    expect(warnings).toEqual([
      { line: 2, text: expect.stringMatching(/^users "u0", "u1", "u2", "u3", "u4" and 3 more: .*plain text/) },
    ]);
  });

  it("says in which line a password or a rule cannot work", async () => {
    const { problems } = await checkUsers(
      found({
        users: [{ username: "ada", password, encryption: "sha1", line: 5 }],
        rules: [
          { username: "ada", path: "/x/*", methods: ["PROPFIND"], permission: "allow", line: 3 },
          { username: "ada", path: "/*", methods: ["GET"], rights: ["read"], permission: "allow", line: 2 },
        ],
      }),
    );
    expect(problems).toEqual([
      { line: 2, text: expect.stringMatching(/^the rule: expected /) },
      { line: 3, text: expect.stringMatching(/^method: expected GET/) },
      { line: 5, text: expect.stringMatching(/^user "ada": encryption is "sha1", but/) },
    ]);
  });

  it("warns of rules about nobody", async () => {
    const { warnings } = await checkUsers(
      found({
        users: [{ username: "ada", password, roles: ["editor"], line: 1 }],
        rules: [
          { username: "adda", path: "/x/*", permission: "deny", line: 2 },
          { role: "editors", path: "/x/*", permission: "deny", line: 3 },
          { username: "*", path: "/x/*", permission: "deny", line: 4 },
          { username: ":username", path: "/u/:username/*", permission: "allow", line: 5 },
        ],
      }),
    );
    expect(warnings).toEqual([
      { line: 2, text: 'the rule is about the user "adda", but there is no such user' },
      { line: 3, text: 'the rule is about the role "editors", which no user has' },
    ]);
  });
});
