import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { FairQueue } from "../../event-loop/fair-queue.ts";
import { TimeSlice } from "../../event-loop/sliced-work.ts";
import { HttpError } from "../../http/http-error.ts";
import type { Credentials } from "./credentials.ts";
import { isPossiblePassword, parseHash, type StoredPassword } from "./password.ts";
import type { UserRecord } from "./users.ts";

/** What outlives a change of the users: waiting requests keep their turn, and users who signed in before their place. */
export interface Hashing {
  readonly queue: FairQueue;
  /** Credentials that were right, under a keyed hash, and until when that is believed without hashing. */
  readonly right: LRUCache<string, { readonly user: UserRecord; readonly until: number }>;
  /** For how long, in seconds; 0 for never. */
  readonly cacheTime: number;
}

/** Most hashes computed at once: half of the thread pool, which reads files as well. */
const concurrency = 2;
/** Most passwords that wait to be checked; of users who signed in before, as many again. */
const maxWaiting = 100;
/** Most credentials remembered. */
const maxRemembered = 10_000;
/** Most kinds of hashes compared in a failed attempt. Files have one or two kinds, and each costs time. */
const maxDecoys = 4;

export function createHashing(cacheTime: number): Hashing {
  const queue = new FairQueue({ concurrency, maxWaiting, refusal: tooMany });
  return { queue, right: new LRUCache({ max: maxRemembered }), cacheTime };
}

/** Knows one list of users. When the list changes, a new verifier takes its place. */
export interface Verifier {
  /** Resolves when all users of the list are read, which happens in slices. */
  readonly ready: Promise<void>;
  /** The user of a name; `undefined` also for one that is not read yet. */
  find(username: string): UserRecord | undefined;
  /**
   * The user whose name and password these are, or `undefined`. Throws a 503 where too many wait for their turn, and
   * the reason of `signal` as soon as that is aborted. Addresses share the turns equally.
   */
  verify(credentials: Credentials, signal?: AbortSignal, address?: string): Promise<UserRecord | undefined>;
}

/** What is remembered is of no use outside this process. */
const key = randomBytes(32);

/** A check that is waiting or running; all requests with the same credentials share it. */
interface Attempt {
  readonly result: Promise<UserRecord | undefined>;
  readonly abandoned: AbortController;
  interested: number;
}

/**
 * Makes a {@link Verifier}. Right credentials are remembered, because browsers send them with every request and good
 * hashes are slow. Wrong ones are not: guesses differ, and would only push out what is right.
 *
 * The time of an attempt does not tell which names exist. A failed one compares the password with one hash of each kind in
 * the list: the user's own, where the name exists, and another user's for each other kind of the most common ones.
 */
export function createVerifier(
  users: readonly UserRecord[],
  { queue, right, cacheTime }: Hashing,
  parse: (record: UserRecord) => StoredPassword = parseHash,
): Verifier {
  const known = new Map<string, { readonly user: UserRecord; readonly stored: StoredPassword }>();
  let decoys: readonly StoredPassword[] = [];
  const attempts = new Map<string, Attempt>();

  async function readUsers(): Promise<void> {
    const kinds = new Map<string, { readonly decoy: StoredPassword; count: number }>();
    const slice = new TimeSlice();
    for (const user of users) {
      if (slice.isOver) await slice.renew();
      const stored = parse(user);
      known.set(user.username, { user, stored });
      if (stored.kind === undefined) continue;
      const kind = kinds.get(stored.kind) ?? { decoy: stored, count: 0 };
      kind.count += 1;
      kinds.set(stored.kind, kind);
    }
    const byCount = [...kinds.values()].sort((one, other) => other.count - one.count);
    decoys = byCount.slice(0, maxDecoys).map(({ decoy }) => decoy);
  }
  const ready = readUsers();

  async function check({ username, password }: Credentials): Promise<UserRecord | undefined> {
    await ready;
    const own = known.get(username);
    if (await own?.stored.matches(password)) return own?.user;
    for (const decoy of decoys) {
      if (decoy.kind !== own?.stored.kind) await decoy.matches(password); // whatever it says, the answer is no
    }
    return undefined;
  }

  function begin(credentials: Credentials, digest: string, address: string): Attempt {
    const abandoned = new AbortController();
    const client = { address, account: credentials.username, isKnown: right.has(digest) };
    const result = queue
      .run(client, () => check(credentials), { signal: abandoned.signal })
      .then((user) => {
        if (user) right.set(digest, { user, until: performance.now() + cacheTime * 1000 });
        return user;
      });
    const attempt = { result, abandoned, interested: 0 };
    attempts.set(digest, attempt);
    return attempt;
  }

  return {
    ready,
    find: (username) => known.get(username)?.user,
    async verify(credentials, signal, address = "") {
      signal?.throwIfAborted();
      const { username, password } = credentials;
      if (!isPossiblePassword(password)) return undefined;
      // The password has no NUL, so that the last one parts it from the name.
      const digest = createHmac("sha256", key).update(`${username}\0${password}`).digest("base64");
      const remembered = right.get(digest);
      const isOfNow = remembered && known.get(username)?.user === remembered.user; // and not of a former list
      if (isOfNow && cacheTime > 0 && performance.now() <= remembered.until) return remembered.user;

      const attempt = attempts.get(digest) ?? begin(credentials, digest, address);
      attempt.interested += 1;
      try {
        return await unlessAborted(attempt.result, signal);
      } finally {
        attempt.interested -= 1;
        if (attempt.interested === 0) {
          attempts.delete(digest);
          attempt.abandoned.abort();
        }
      }
    },
  };
}

function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function tooMany(): HttpError {
  return new HttpError(503, "OVERLOADED", "Too many passwords are being checked; try again shortly.", {
    headers: { "retry-after": "1" },
  });
}
