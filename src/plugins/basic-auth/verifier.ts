import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { type Claim, HashQueue } from "./hash-queue.ts";
import { isPossiblePassword, parseHash, type StoredPassword } from "./password.ts";
import { createPasswordCheck, type PasswordCheck } from "./password-check.ts";
import type { UserRecord } from "./users.ts";

/** Options of {@link createVerifier}. */
export interface VerifierOptions {
  readonly users: readonly UserRecord[];
  /** For how long credentials that were right are believed without hashing; 0 for never. @default 300 */
  readonly cacheTime?: number;
  /** How many credentials are remembered, at least 1; the least recently used ones go first. @default 10_000 */
  readonly maxCached?: number;
  /** Where hashing waits for its turn; to be shared with the verifier that replaces this one. @default one of its own */
  readonly queue?: HashQueue;
  /** A clock in milliseconds that never goes back. @default performance.now */
  readonly now?: () => number;
  /** Reads a stored password. @default parseHash */
  readonly parse?: (record: UserRecord) => StoredPassword;
}

/** Knows one list of users. When the list changes, a new verifier takes its place, with nothing remembered. */
export interface Verifier extends Pick<PasswordCheck, "ready" | "find"> {
  /**
   * The user whose name and password these are, or `undefined`. Throws a 503 where too many wait for their turn, and
   * the reason of `signal` as soon as that is aborted. Addresses share the turns equally.
   */
  verify(username: string, password: string, signal?: AbortSignal, address?: string): Promise<UserRecord | undefined>;
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
 * Makes a {@link Verifier}. Right credentials are remembered, under a keyed hash and for minutes, because browsers send
 * them with every request and good hashes are slow. Wrong ones are not: guesses differ, and would only push out what is
 * right.
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const { users, cacheTime = 300, maxCached = 10_000, queue = new HashQueue() } = options;
  const { now = () => performance.now(), parse = parseHash } = options;
  const passwords = createPasswordCheck(users, parse);
  const verified = new LRUCache<string, { readonly user: UserRecord; readonly until: number }>({ max: maxCached });
  const attempts = new Map<string, Attempt>();

  // The password has no NUL, so that the last one parts it from the name.
  const keyOf = (username: string, password: string): string =>
    createHmac("sha256", key).update(`${username}\0${password}`).digest("base64");

  function attempt(password: string, claim: Claim): Attempt {
    const { credentials } = claim;
    const abandoned = new AbortController();
    const result = queue
      .run(() => passwords.check(claim.username, password), abandoned.signal, claim)
      .then((user) => {
        if (user) queue.remember(claim);
        if (user && cacheTime > 0) verified.set(credentials, { user, until: now() + cacheTime * 1000 });
        return user;
      });
    const started = { result, abandoned, interested: 0 };
    attempts.set(credentials, started);
    return started;
  }

  return {
    ready: passwords.ready,
    find: passwords.find,
    async verify(username, password, signal, address = "") {
      signal?.throwIfAborted();
      if (!isPossiblePassword(password)) return undefined;
      const credentials = keyOf(username, password);
      const known = verified.get(credentials);
      if (known && now() <= known.until) return known.user;

      const shared = attempts.get(credentials) ?? attempt(password, { address, username, credentials });
      shared.interested += 1;
      try {
        return await unlessAborted(shared.result, signal);
      } finally {
        shared.interested -= 1;
        if (shared.interested === 0) {
          attempts.delete(credentials);
          shared.abandoned.abort();
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
