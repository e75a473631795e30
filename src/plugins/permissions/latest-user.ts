import { AsyncResource } from "node:async_hooks";
import { HttpError } from "../../http/http-error.ts";
import type { User } from "../../server/access.ts";

/** For connections that stay open, an answer counts so long at least before it is asked for again. */
const answerCountsMs = 5_000;

/** Who a user is by the last answer to that question. Asks again in the background once the answer is old. */
export function latestUser(found: User | undefined, ask: () => Promise<User | undefined>): () => User | undefined {
  let user = found;
  let askedAt = performance.now();
  let isAsking = false;
  // Another request may lead to it, but the host program is asked in the async context of this one.
  const context = new AsyncResource("user"); // `bind` takes 15 µs in Node 20
  const askAgain = async (): Promise<void> => {
    isAsking = true;
    try {
      user = await ask();
    } catch (error) {
      // A request would be refused as well. A database that is down says nothing about the user.
      if (error instanceof HttpError && error.status < 500) user = undefined;
    }
    askedAt = performance.now();
    isAsking = false;
  };
  return () => {
    if (!isAsking && performance.now() - askedAt >= answerCountsMs) void context.runInAsyncScope(askAgain);
    return user;
  };
}

/**
 * A user as the host program describes one. Frozen: a plugin that added a role would give it to all requests. Throws a
 * `TypeError` with this message for what is not a list of texts; another role would match rules by accident.
 */
export function userOf(name: string, roles: unknown, problem: string): User {
  const areTexts = Array.isArray(roles) && roles.every((role) => typeof role === "string");
  if (!areTexts) throw new TypeError(problem);
  return Object.freeze({ name, roles: Object.freeze([...roles]) });
}
