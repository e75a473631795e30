import type { User } from "../../server/access.ts";
import type { Credentials } from "./credentials.ts";

/** The user with these credentials, if there is one. */
export type Identify = (credentials: Credentials) => Promise<User | undefined>;

/** For connections that stay open, an answer counts so long at least before it is asked for again. */
const answerCountsMs = 5_000;

/** What was last said of a name and a password. */
interface Answer {
  readonly credentials: Credentials;
  user: User | undefined;
  askedAt: number;
  isAsking: boolean;
}

/**
 * The last answers of a function that identifies users, each for as long as its user is in use. A connection that
 * stays open learns what the function says by now: it is asked again when an answer has become old, once for all connections
 * with the same name and password, and at most every five seconds.
 */
export class LastAnswers {
  readonly #identify: Identify;
  /** The answer that a user came from, and later ones to the same question. */
  readonly #answers = new WeakMap<User, Answer>();
  /** The latest answer about each name. It holds a password: only a connection keeps it in memory. */
  readonly #latest = new Map<string, WeakRef<Answer>>();
  readonly #forgotten = new FinalizationRegistry<string>((name) => {
    if (!this.#latest.get(name)?.deref()) this.#latest.delete(name);
  });

  constructor(identify: Identify) {
    this.#identify = identify;
  }

  /** Asks for a request. */
  async identify(credentials: Credentials): Promise<User | undefined> {
    const user = await this.#identify(credentials);
    const known = this.#latest.get(credentials.username)?.deref();
    const isSame = known?.credentials.password === credentials.password;
    if (user) {
      const answer = isSame ? known : this.#newAnswer(credentials);
      this.#answers.set(user, answer);
      note(answer, user);
    } else if (isSame) note(known, undefined);
    return user;
  }

  /** Who a user is by the last answer; `undefined` for one who would not be let in any more. Asks again in the background. */
  latest(user: User): User | undefined {
    const answer = this.#answers.get(user);
    if (!answer) return undefined;
    if (!answer.isAsking && performance.now() - answer.askedAt >= answerCountsMs) void this.#askAgain(answer);
    return answer.user;
  }

  async #askAgain(answer: Answer): Promise<void> {
    answer.isAsking = true;
    try {
      note(answer, await this.#identify(answer.credentials));
    } catch {
      // A database that is down says nothing about the user; requests fail meanwhile, and tell the operator.
      note(answer, answer.user);
    }
  }

  #newAnswer(credentials: Credentials): Answer {
    const answer: Answer = { credentials, user: undefined, askedAt: 0, isAsking: false };
    this.#latest.set(credentials.username, new WeakRef(answer));
    this.#forgotten.register(answer, credentials.username);
    return answer;
  }
}

function note(answer: Answer, user: User | undefined): void {
  answer.user = user;
  answer.askedAt = performance.now();
  answer.isAsking = false;
}
