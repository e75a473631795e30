import { setImmediate } from "node:timers/promises";
import { describe, expect, it, test } from "vitest";
import { HashQueue } from "../../../src/plugins/basic-auth/hash-queue.ts";
import type { StoredPassword } from "../../../src/plugins/basic-auth/password.ts";
import type { UserRecord } from "../../../src/plugins/basic-auth/users.ts";
import { createVerifier, type VerifierOptions } from "../../../src/plugins/basic-auth/verifier.ts";

const ada: UserRecord = { username: "ada", password: "lovelace", roles: ["editor"] };
const bob: UserRecord = { username: "bob", password: "builder" };

/** A verifier of ada and bob with a clock to be set and hashes that are counted, and wait while they are held. */
function counting(options: Partial<VerifierOptions> = {}) {
  const hashed: string[] = [];
  const clock = { ms: 1000 };
  const held: (() => void)[] = [];
  const state = { isHolding: false };
  const parse = (record: UserRecord): StoredPassword => ({
    format: "plaintext",
    kind: "one",
    async matches(password) {
      hashed.push(password);
      if (state.isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return password === record.password;
    },
  });
  const verifier = createVerifier({ users: [ada, bob], now: () => clock.ms, parse, ...options });
  const release = (): void => {
    state.isHolding = false;
    for (const go of held.splice(0)) go();
  };
  return { verifier, hashed, clock, state, release };
}

async function turn(): Promise<void> {
  for (let i = 0; i < 3; i++) await setImmediate();
}

describe("a verifier", () => {
  it("gives the user whose name and password it is told, and nobody else", async () => {
    const { verifier } = counting();
    expect(await verifier.verify("ada", "lovelace")).toBe(ada);
    expect(await verifier.verify("bob", "builder")).toBe(bob);
    for (const [name, password] of [
      ["ada", "builder"],
      ["ada", ""],
      ["ADA", "lovelace"],
      ["", "lovelace"],
      ["nobody", "lovelace"],
    ] as const) {
      expect(await verifier.verify(name, password), `${name}:${password}`).toBeUndefined();
    }
  });

  it("knows real hashes", async () => {
    const users = [{ username: "ada", password: "$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC" }];
    const verifier = createVerifier({ users });
    expect(await verifier.verify("ada", "myPassword")).toBe(users[0]);
    expect(await verifier.verify("ada", "mypassword")).toBeUndefined();
  });

  it("believes right credentials without hashing, until the time is over", async () => {
    const { verifier, hashed, clock } = counting();
    for (const ms of [1000, 1001, 300_999]) {
      clock.ms = ms;
      expect(await verifier.verify("ada", "lovelace")).toBe(ada);
      expect(hashed).toEqual(["lovelace"]);
    }
    clock.ms = 301_002;
    expect(await verifier.verify("ada", "lovelace")).toBe(ada);
    expect(hashed).toHaveLength(2);
  });

  it.each([0.0005, 1.2345678, 0.1 + 0.2])("takes %d seconds, which are no whole milliseconds", async (cacheTime) => {
    const { verifier, hashed } = counting({ cacheTime });
    expect(await verifier.verify("ada", "lovelace")).toBe(ada);
    expect(await verifier.verify("ada", "lovelace")).toBe(ada);
    expect(hashed).toEqual(["lovelace"]);
  });

  it("hashes a wrong password although the right one is remembered, each time", async () => {
    const { verifier, hashed } = counting();
    await verifier.verify("ada", "lovelace");
    for (let i = 0; i < 3; i++) expect(await verifier.verify("ada", "Lovelace")).toBeUndefined();
    expect(await verifier.verify("bob", "lovelace")).toBeUndefined();
    expect(hashed).toEqual(["lovelace", "Lovelace", "Lovelace", "Lovelace", "lovelace"]);
  });

  it("hashes as often for a name that does not exist as for one that does", async () => {
    const { verifier, hashed } = counting();
    await verifier.verify("ada", "wrong");
    const forKnown = hashed.splice(0).length;
    await verifier.verify("nobody", "wrong");
    expect(hashed).toHaveLength(forKnown);
  });

  it("remembers no more than it may", async () => {
    const { verifier, hashed } = counting({ maxCached: 1 });
    for (const { username, password } of [ada, bob, bob, ada]) await verifier.verify(username, password);
    expect(hashed).toEqual(["lovelace", "builder", "lovelace"]);
  });

  it("remembers nothing for 0 seconds", async () => {
    const { verifier, hashed } = counting({ cacheTime: 0 });
    await verifier.verify("ada", "lovelace");
    await verifier.verify("ada", "lovelace");
    expect(hashed).toHaveLength(2);
  });

  it("does not mistake a colon in a password for the end of a name", async () => {
    const users: UserRecord[] = [
      { username: "a:b", password: "c" },
      { username: "a", password: "b:c" },
    ];
    const { verifier } = counting({ users });
    expect(await verifier.verify("a:b", "c")).toBe(users[0]);
    expect(await verifier.verify("a", "b:c")).toBe(users[1]);
  });

  test.each(["\0", "lovelace\0", `lovelace${"x".repeat(1024)}`])(
    "refuses a password that nobody can have without hashing, whatever the name (%#)",
    async (password) => {
      const { verifier, hashed } = counting();
      for (const name of ["ada", "nobody"]) expect(await verifier.verify(name, password)).toBeUndefined();
      expect(hashed).toEqual([]);
    },
  );

  it("leaves frozen options and users as they are", async () => {
    const users = Object.freeze([
      Object.freeze({ username: "ada", password: "lovelace", encryption: "plaintext" } as const),
    ]);
    const verifier = createVerifier(Object.freeze({ users }));
    expect(await verifier.verify("ada", "lovelace")).toBe(users[0]);
  });
});

describe("a verifier of many requests at once", () => {
  it("hashes once for all that come with the same credentials", async () => {
    const { verifier, hashed, state, release } = counting();
    state.isHolding = true;
    const results = Array.from({ length: 6 }, () => verifier.verify("ada", "lovelace"));
    const others = [verifier.verify("ada", "wrong"), verifier.verify("ada", "wrong")];
    await turn();
    release();
    expect(await Promise.all(results)).toEqual(Array(6).fill(ada));
    expect(await Promise.all(others)).toEqual([undefined, undefined]);
    expect(hashed).toEqual(["lovelace", "wrong"]);
  });

  it("refuses with 503 when too many wait, but not those whom it remembers", async () => {
    const { verifier, state, release } = counting({ queue: new HashQueue({ concurrency: 1, maxQueued: 1 }) });
    await verifier.verify("bob", "builder");
    state.isHolding = true;
    const accepted = [verifier.verify("ada", "guess 1"), verifier.verify("ada", "guess 2")];
    await expect(verifier.verify("ada", "guess 3")).rejects.toMatchObject({ status: 503, code: "OVERLOADED" });
    expect(await verifier.verify("bob", "builder")).toBe(bob);
    release();
    expect(await Promise.all(accepted)).toEqual([undefined, undefined]);
    expect(await verifier.verify("ada", "lovelace")).toBe(ada);
  });

  it("shares a queue with the verifier that comes after it", async () => {
    const queue = new HashQueue({ concurrency: 1, maxQueued: 0 });
    const before = counting({ queue });
    const after = counting({ queue });
    before.state.isHolding = true;
    const running = before.verifier.verify("ada", "lovelace");
    await expect(after.verifier.verify("ada", "lovelace")).rejects.toMatchObject({ status: 503 });
    before.release();
    expect(await running).toBe(ada);
  });

  it("does not hash for a client that left before its turn", async () => {
    const { verifier, hashed, state, release } = counting({ queue: new HashQueue({ concurrency: 1 }) });
    state.isHolding = true;
    const leaving = new AbortController();
    const gone = new Error("the client left");
    const running = verifier.verify("bob", "builder");
    const waiting = verifier.verify("ada", "lovelace", leaving.signal);
    leaving.abort(gone);
    await expect(waiting).rejects.toBe(gone);
    release();
    await running;
    await turn();
    expect(hashed).toEqual(["builder"]);
  });

  it("does hash for the one that stays of two that came with the same credentials", async () => {
    const { verifier, hashed, state, release } = counting({ queue: new HashQueue({ concurrency: 1 }) });
    state.isHolding = true;
    const leaving = new AbortController();
    void verifier.verify("bob", "builder");
    const leaver = verifier.verify("ada", "lovelace", leaving.signal);
    const stayer = verifier.verify("ada", "lovelace", new AbortController().signal);
    leaving.abort();
    await expect(leaver).rejects.toThrow();
    release();
    expect(await stayer).toBe(ada);
    expect(hashed).toEqual(["builder", "lovelace"]);
  });

  it("does not send a newcomer away with those that left just before", async () => {
    const { verifier, state, release } = counting({ queue: new HashQueue({ concurrency: 1 }) });
    state.isHolding = true;
    const leaving = new AbortController();
    void verifier.verify("bob", "builder");
    const leaver = verifier.verify("ada", "lovelace", leaving.signal);
    leaving.abort();
    await expect(leaver).rejects.toThrow();
    const newcomer = verifier.verify("ada", "lovelace");
    release();
    expect(await newcomer).toBe(ada);
  });

  it("answers at once to a client that leaves while its password is hashed", async () => {
    const { verifier, state, release } = counting();
    state.isHolding = true;
    const leaving = new AbortController();
    const gone = new Error("the client left");
    const running = verifier.verify("ada", "lovelace", leaving.signal);
    await turn();
    leaving.abort(gone);
    await expect(running).rejects.toBe(gone);
    release();
  });

  it("does nothing for a client that has left already", async () => {
    const { verifier, hashed } = counting();
    await expect(verifier.verify("ada", "lovelace", AbortSignal.abort())).rejects.toThrow();
    expect(hashed).toEqual([]);
  });

  it("passes on what goes wrong, to each that waits, and tries anew afterwards", async () => {
    const failure = new Error("no memory");
    let isBroken = true;
    const parse = (): StoredPassword => ({
      format: "argon2",
      kind: "argon2",
      async matches() {
        if (isBroken) throw failure;
        return true;
      },
    });
    const verifier = createVerifier({ users: [ada], parse });
    const attempts = [verifier.verify("ada", "lovelace"), verifier.verify("ada", "lovelace")];
    for (const attempt of attempts) await expect(attempt).rejects.toBe(failure);
    isBroken = false;
    expect(await verifier.verify("ada", "lovelace")).toBe(ada);
  });
});
