import { describe, expect, it, test } from "vitest";
import type { StoredPassword } from "../../../src/plugins/basic-auth/password.ts";
import { createPasswordCheck, type PasswordCheck } from "../../../src/plugins/basic-auth/password-check.ts";
import type { UserRecord } from "../../../src/plugins/basic-auth/users.ts";
import { stepClock, turnsUntil } from "../../helpers/counted-work.ts";

/** A check of users whose password is their name and whose hash is of the kind given; notes the kinds it has compared. */
function checkOf(kinds: Readonly<Record<string, string | undefined>>): {
  check: PasswordCheck["check"];
  compared: string[];
} {
  const compared: string[] = [];
  const parse = ({ username }: UserRecord): StoredPassword => {
    const kind = kinds[username];
    return {
      format: undefined,
      kind,
      async matches(password) {
        if (kind === undefined) return false;
        compared.push(kind);
        return password === username;
      },
    };
  };
  const users = Object.keys(kinds).map((username) => ({ username, password: "a hash" }));
  return { check: createPasswordCheck(users, parse).check, compared };
}

describe("a password check", () => {
  it("gives the user with the right password", async () => {
    const { check } = checkOf({ ada: "bcrypt", bob: "bcrypt" });
    expect(await check("ada", "ada")).toEqual({ username: "ada", password: "a hash" });
    expect(await check("ada", "bob")).toBeUndefined();
    expect(await check("Ada", "ada")).toBeUndefined();
  });

  it("compares once for the right password", async () => {
    const { check, compared } = checkOf({ ada: "bcrypt", bob: "argon2", eve: "sha1" });
    await check("bob", "bob");
    expect(compared).toEqual(["argon2"]);
  });

  test.each(["ada", "bob", "cid", "nobody", "broken", "__proto__", ""])(
    "does the same work for each wrong attempt, for %j as well",
    async (username) => {
      const { check, compared } = checkOf({ ada: "bcrypt", bob: "bcrypt", cid: "sha1", broken: undefined });
      expect(await check(username, "wrong")).toBeUndefined();
      expect(compared.sort()).toEqual(["bcrypt", "sha1"]);
    },
  );

  it("is not fooled by the password of whoever's hash it takes for an unknown name", async () => {
    const { check, compared } = checkOf({ ada: "bcrypt" });
    expect(await check("nobody", "ada")).toBeUndefined();
    expect(compared).toEqual(["bcrypt"]);
  });

  it("makes up for the four most common kinds only", async () => {
    const { check, compared } = checkOf({ a: "1", b: "2", c: "3", d: "4", e: "5", f: "5", g: "4" });
    await check("nobody", "wrong");
    expect(compared).toEqual(["4", "5", "1", "2"]);
  });

  it("takes the first of two users of one name", async () => {
    const first: UserRecord = { username: "ada", password: "first" };
    const second: UserRecord = { username: "ada", password: "second" };
    const parse = (record: UserRecord): StoredPassword => ({
      format: "plaintext",
      kind: "plaintext",
      matches: async (password) => password === record.password,
    });
    const check = createPasswordCheck([first, second], parse).check;
    expect(await check("ada", "first")).toBe(first);
    expect(await check("ada", "second")).toBeUndefined();
  });

  it("refuses everybody where there are no users", async () => {
    expect(await checkOf({}).check("ada", "ada")).toBeUndefined();
  });

  it("reads a long list in slices, and checks passwords once it is read", async () => {
    const users = Array.from({ length: 2000 }, (_, i) => ({ username: `u${i}`, password: "a hash" }));
    const parse = ({ username }: UserRecord): StoredPassword => {
      return { format: undefined, kind: "x", matches: async (password) => password === username };
    };
    stepClock();
    const { ready, check, find } = createPasswordCheck(users, parse);
    const checked = check("u1999", "u1999");
    expect(find("u1999")).toBeUndefined();
    expect(await turnsUntil(ready)).toBeGreaterThan(300);
    expect(await checked).toBe(users[1999]);
    expect(find("u1999")).toBe(users[1999]);
  });
});
