import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { fairQueue, type RunInTurn } from "../../event-loop/fair-queue.ts";
import type { SlicedWork } from "../../event-loop/sliced-work.ts";
import type { User } from "../../server/access.ts";
import { unavailable } from "../../server/admission.ts";
import { latestUser, userOf } from "../permissions/latest-user.ts";
import type { Credentials } from "./credentials.ts";
import { isPossiblePassword, type KnownUser, type StoredPassword } from "./password.ts";
import type { UserRecord } from "./users.ts";

export interface Accounts {
  /** The user of these credentials or `undefined`. Throws 503 where too many wait; addresses share turns equally. */
  identify(credentials: Credentials, address: string): Promise<User | undefined>;
  /** The same user in these accounts; `undefined` for one who was removed, or has another password by now. */
  renewed(user: User): User | undefined;
}

/** What outlives a change of users: waiting requests keep their turn, earlier users their place. */
export interface Hashing {
  readonly inTurn: RunInTurn;
  /** Credentials that were right, under a keyed hash, and until when that is believed without hashing. */
  readonly right: LRUCache<string, { readonly user: User; readonly until: number }>;
}

/** Most hashes computed at once: half of the thread pool, which reads files as well. */
const concurrency = 2;
/** Most passwords that wait to be checked; of users who signed in before, as many again. */
const maxWaiting = 100;
/** Most credentials remembered, and how long they are believed without hashing, in milliseconds. */
const maxRemembered = 10_000;
const believedMs = 300_000;
/** Most kinds of hashes compared in a failed attempt. Files have one or two kinds, and each costs time. */
const maxDecoys = 4;

export function createHashing(): Hashing {
  const inTurn = fairQueue({ concurrency, maxWaiting, refusal: () => unavailable("OVERLOADED") });
  return { inTurn, right: new LRUCache({ maxSize: maxRemembered, sizeCalculation: () => 1 }) };
}

/** What is remembered is of no use outside this process. */
const key = randomBytes(32);

const problem = "basicAuth: users() gave something else than true, false or an object with a list of roles";

/** What users were made of, in any version of their accounts. */
const records = new WeakMap<User, UserRecord>();

/**
 * Accounts of a list of users. Right credentials are remembered, because browsers send them with every request and good
 * hashes are slow. Wrong ones are not: guesses differ, and would only push out what is right.
 *
 * The time of an attempt does not tell which names exist. A failed one compares the password with one hash of each kind
 * in the list: the user's own, where the name exists, and another user's for each other kind, of four at most.
 */
export function* accountsOfUsers(users: readonly KnownUser[], { inTurn, right }: Hashing): SlicedWork<Accounts> {
  const known = new Map<string, { readonly user: User; readonly stored: StoredPassword }>();
  const decoys = new Map<string, StoredPassword>();
  for (const { record, stored } of users) {
    yield;
    const user = userOf(record.username, record.roles ?? [], problem);
    records.set(user, record);
    known.set(record.username, { user, stored });
    if (stored.kind !== undefined && decoys.size < maxDecoys) decoys.set(stored.kind, stored);
  }
  /** Checks that wait or run; all requests with the same credentials share one. */
  const attempts = new Map<string, Promise<User | undefined>>();

  async function check({ username, password }: Credentials): Promise<User | undefined> {
    const own = known.get(username);
    if (await own?.stored.matches(password)) return own?.user;
    for (const decoy of decoys.values()) {
      if (decoy.kind !== own?.stored.kind) await decoy.matches(password); // whatever it says, the answer is no
    }
    return undefined;
  }

  async function attempt(credentials: Credentials, digest: string, address: string): Promise<User | undefined> {
    try {
      const client = { address, account: credentials.username, isKnown: right.has(digest) };
      const user = await inTurn(client, () => check(credentials));
      if (user) right.set(digest, { user, until: performance.now() + believedMs });
      return user;
    } finally {
      attempts.delete(digest);
    }
  }

  return {
    async identify(credentials, address) {
      const { username, password } = credentials;
      if (!isPossiblePassword(password)) return undefined;
      // The password has no NUL, so that the last one parts it from the name.
      const digest = createHmac("sha256", key).update(`${username}\0${password}`).digest("base64");
      const remembered = right.get(digest);
      const isOfNow = remembered && known.get(username)?.user === remembered.user; // and not of a former list
      if (isOfNow && performance.now() <= remembered.until) return remembered.user;
      const result = attempts.get(digest) ?? attempt(credentials, digest, address);
      attempts.set(digest, result);
      return result;
    },
    renewed(user) {
      const before = records.get(user);
      const now = known.get(user.name)?.user;
      const record = now && records.get(now);
      const isSame = record && before && record.password === before.password && record.encryption === before.encryption;
      return isSame ? now : undefined;
    },
  };
}

/**
 * Decides about a name and a password. `true` or an object lets the user in, with the object's `roles`; `false`,
 * `undefined` and `null` do not. What it throws makes the request fail.
 */
export type CheckCredentials = (username: string, password: string) => CheckedCredentials | Promise<CheckedCredentials>;

/** What {@link CheckCredentials} may say. */
export type CheckedCredentials = boolean | null | undefined | { readonly roles?: readonly string[] | undefined };

export function accountsOfFunction(check: CheckCredentials): Accounts {
  const latest = new WeakMap<User, () => User | undefined>();
  const ask = async ({ username, password }: Credentials): Promise<User | undefined> => {
    const checked: unknown = await check(username, password);
    if (checked === false || checked === undefined || checked === null) return undefined;
    if (checked === true) return userOf(username, [], problem);
    const roles: unknown = typeof checked === "object" ? (Reflect.get(checked, "roles") ?? []) : undefined;
    return userOf(username, roles, problem);
  };
  return {
    async identify(credentials) {
      const user = await ask(credentials);
      const renewed = latestUser(user, () => ask(credentials));
      if (user) latest.set(user, renewed);
      return user;
    },
    renewed: (user) => latest.get(user)?.(),
  };
}
