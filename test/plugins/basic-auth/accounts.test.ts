import { setImmediate } from "node:timers/promises";
import { describe, expect, it, test } from "vitest";
import { atOnce } from "../../../src/event-loop/sliced-work.ts";
import { accountsOfUsers, createHashing } from "../../../src/plugins/basic-auth/accounts.ts";
import type { StoredPassword } from "../../../src/plugins/basic-auth/password.ts";
import type { UserRecord } from "../../../src/plugins/basic-auth/users.ts";
import { stepClock } from "../../helpers/counted-work.ts";

const ada: UserRecord = { username: "ada", password: "lovelace", roles: ["editor"] };
const bob: UserRecord = { username: "bob", password: "builder" };

/** What a request finds of a user. */
const signedIn = ({ username: name, roles = [] }: UserRecord = ada) => ({ name, roles });

interface Counting {
  readonly users?: readonly UserRecord[];
  readonly hashing?: ReturnType<typeof createHashing>;
  /** The kind of hash that a user has. */
  readonly kindOf?: (username: string) => string | undefined;
}

/** Accounts of ada and bob with hashes that are counted, and wait while they are held. */
function counting({ users = [ada, bob], hashing = createHashing(), kindOf = () => "one" }: Counting = {}) {
  const hashed: string[] = [];
  const kinds: (string | undefined)[] = [];
  const held: (() => void)[] = [];
  const state = { isHolding: false };
  const parse = (record: UserRecord): StoredPassword => ({
    kind: kindOf(record.username),
    async matches(password) {
      hashed.push(password);
      kinds.push(kindOf(record.username));
      if (state.isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return password === record.password;
    },
  });
  const known = users.map((record) => ({ record, stored: parse(record) }));
  const accounts = atOnce(accountsOfUsers(known, hashing));
  const verify = (username: string, password: string) => accounts.identify({ username, password }, "192.0.2.1");
  const release = (): void => {
    state.isHolding = false;
    for (const go of held.splice(0)) go();
  };
  return { ...accounts, verify, hashed, kinds, state, release };
}

async function turn(): Promise<void> {
  for (let i = 0; i < 3; i++) await setImmediate();
}

describe("accounts", () => {
  it("believes right credentials without hashing, until the time is over", async () => {
    const clock = stepClock(0);
    const { verify, hashed } = counting();
    for (const ms of [0, 1, 299_999]) {
      clock.pass(ms);
      expect(await verify("ada", "lovelace")).toMatchObject(signedIn(ada));
      expect(hashed).toEqual(["lovelace"]);
    }
    clock.pass(2);
    expect(await verify("ada", "lovelace")).toMatchObject(signedIn(ada));
    expect(hashed).toHaveLength(2);
  });

  it("hashes a wrong password although the right one is remembered, each time", async () => {
    const { verify, hashed } = counting();
    await verify("ada", "lovelace");
    for (let i = 0; i < 3; i++) expect(await verify("ada", "Lovelace")).toBeUndefined();
    expect(await verify("bob", "lovelace")).toBeUndefined();
    expect(hashed).toEqual(["lovelace", "Lovelace", "Lovelace", "Lovelace", "lovelace"]);
  });

  it("does not mistake a colon in a password for the end of a name", async () => {
    const users: UserRecord[] = [
      { username: "a:b", password: "c" },
      { username: "a", password: "b:c" },
    ];
    const { verify } = counting({ users });
    expect(await verify("a:b", "c")).toMatchObject(signedIn(users[0]));
    expect(await verify("a", "b:c")).toMatchObject(signedIn(users[1]));
  });

  test.each(["\0", "lovelace\0", `lovelace${"x".repeat(1024)}`])(
    "refuses a password that nobody can have without hashing, whatever the name (%#)",
    async (password) => {
      const { verify, hashed } = counting();
      for (const name of ["ada", "nobody"]) expect(await verify(name, password)).toBeUndefined();
      expect(hashed).toEqual([]);
    },
  );

  test.each(["ada", "bob", "cid", "nobody", "__proto__", ""])(
    "does the same work for each wrong attempt, for %j as well",
    async (username) => {
      const users = ["ada", "bob", "cid"].map((name) => ({ username: name, password: "x" }));
      const kindOf = (name: string) => (name === "cid" ? "sha1" : "bcrypt");
      const { verify, kinds } = counting({ users, kindOf });
      expect(await verify(username, "wrong")).toBeUndefined();
      expect(kinds.sort()).toEqual(["bcrypt", "sha1"]);
      expect(await verify("bob", "x")).toMatchObject(signedIn(users[1]));
      expect(kinds).toHaveLength(3);
    },
  );

  it("makes up for the first four kinds only, and takes no other user's password", async () => {
    const users = [..."abcdefg"].map((username) => ({ username, password: username }));
    const kindOf = (name: string) => ({ e: "5", f: "5", g: "4", d: "4" })[name] ?? name;
    const { verify, kinds } = counting({ users, kindOf });
    expect(await verify("nobody", "d")).toBeUndefined();
    expect(kinds).toEqual(["a", "b", "c", "4"]);
  });
});

describe("accounts that many requests ask at once", () => {
  it("hashes once for all that come with the same credentials", async () => {
    const { verify, hashed, state, release } = counting();
    state.isHolding = true;
    const results = Array.from({ length: 6 }, () => verify("ada", "lovelace"));
    const others = [verify("ada", "wrong"), verify("ada", "wrong")];
    await turn();
    release();
    expect(await Promise.all(results)).toEqual(Array(6).fill(signedIn(ada)));
    expect(await Promise.all(others)).toEqual([undefined, undefined]);
    expect(hashed).toEqual(["lovelace", "wrong"]);
  });

  it("shares what it does at once with the accounts that come after them, but not whom they believe", async () => {
    const hashing = createHashing();
    const before = counting({ hashing });
    expect(await before.verify("ada", "lovelace")).toMatchObject(signedIn(ada));
    before.state.isHolding = true;
    const running = [1, 2].map((guess) => before.verify("ada", `guess ${guess}`));
    await turn();
    const after = counting({ hashing, users: [{ ...ada, password: "byron" }] });
    const waiting = after.verify("ada", "lovelace");
    await turn();
    expect([before.hashed, after.hashed]).toEqual([["lovelace", "guess 1", "guess 2"], []]);
    before.release();
    expect(await waiting).toBeUndefined();
    expect(after.hashed).toEqual(["lovelace"]);
    await Promise.all(running);
  });

  it("passes on what goes wrong, to each that waits, and tries anew afterwards", async () => {
    const failure = new Error("no memory");
    let isBroken = true;
    const stored: StoredPassword = {
      kind: "argon2",
      async matches() {
        if (isBroken) throw failure;
        return true;
      },
    };
    const { identify: verify } = atOnce(accountsOfUsers([{ record: ada, stored }], createHashing()));
    const credentials = { username: "ada", password: "lovelace" };
    for (const attempt of [verify(credentials, ""), verify(credentials, "")])
      await expect(attempt).rejects.toBe(failure);
    isBroken = false;
    expect(await verify(credentials, "")).toMatchObject(signedIn(ada));
  });
});
