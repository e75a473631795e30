import { AsyncResource } from "node:async_hooks";
import type { HttpError } from "../http/http-error.ts";
import { compilePathPattern } from "../http/path-pattern.ts";
import { checkOptions } from "../options/check-config.ts";
import { aFunction, pathPattern, pluginOptions } from "../options/option-types.ts";
import { anyOf, listOf, type OptionsSchema } from "../options/schema.ts";
import { type Access, permitsAll, type Right, type User } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import { admit } from "./permissions/apply-rules.ts";

/** What a guard is asked about. */
export interface GuardedRequest {
  /** What the client wants to do. */
  readonly right: Right;
  /** Canonical path of what it wants to do it to; an entry of a listing, or the file of a change, as well. */
  readonly path: string;
  /** The user whom an earlier plugin has signed in. */
  readonly user: User | undefined;
  readonly exchange: Exchange;
}

/** Options for {@link guard}. */
export interface GuardOptions {
  /** What it guards: path patterns (`["/private/*"]`), or a function of the canonical path. @default every path */
  readonly covers?: readonly string[] | ((path: string) => boolean) | undefined;
  /** Whether a client may do something there; synchronous, since listings ask for each entry. @default never */
  readonly permits?: ((asked: GuardedRequest) => boolean) | undefined;
  /** The error for what is refused. @default 401 where an earlier plugin would let the client sign in, else 403 */
  readonly refusal?: ((exchange: Exchange) => HttpError) | undefined;
}

const guardOptions: OptionsSchema = pluginOptions({
  covers: anyOf([listOf(pathPattern, ""), aFunction], "a list of path patterns, or a function"),
  permits: aFunction,
  refusal: aFunction,
});

/**
 * Refuses by path, and by what it knows of the client. What a client may not read is missing from listings, archives
 * and the changes that it hears of, too. Stands behind the plugin that knows the users. Throws a `ConfigError` for
 * options that cannot work.
 *
 * @example
 * guard({ covers: ["/private/*"], permits: ({ user, right }) => user !== undefined && right !== "delete" });
 */
export function guard(options: GuardOptions = {}): Plugin {
  checkOptions("guard", guardOptions, options);
  const { permits: isPermitted = () => false, refusal } = options;
  const covers = coverage(options.covers);

  function permitsHere(permits: typeof isPermitted, exchange: Exchange, right: Right, path: string): boolean {
    if (!covers(path)) return true;
    const answer: unknown = permits({ right, path, user: exchange.user, exchange });
    if (typeof answer === "boolean") return answer;
    // A promise would count as a yes.
    throw new TypeError(`guard: permits() gave ${typeof answer}: expected true or false, at once`);
  }

  function guarded(permits: typeof isPermitted, exchange: Exchange, before: Access): Access {
    let isRefusedHere = false;
    const decide = (right: Right, path: string): boolean => {
      isRefusedHere = !permitsHere(permits, exchange, right, path);
      return !isRefusedHere;
    };
    return {
      selectorsOf: (path) => before.selectorsOf?.(path) ?? [],
      permitsPath: (right, path) => permitsAll(path, (each) => decide(right, each)) && before.permitsPath(right, path),
      permitsElements: (right, path, elements) => decide(right, path) && before.permitsElements(right, path, elements),
      current: () => guarded(permits, exchange, before.current?.() ?? before),
      refusal: () => (refusal && isRefusedHere ? refusal(exchange) : before.refusal()),
    };
  }

  return {
    name: "guard",
    anonymousMayWrite: () => options.covers !== undefined, // elsewhere; of `permits` the worst is not assumed
    handle(exchange, next) {
      // The changes of other requests lead to questions, too; the host program needs the async context of this one.
      const context = new AsyncResource("guard"); // `bind` takes 15 µs in Node 20
      const permits: typeof isPermitted = (asked) => context.runInAsyncScope(isPermitted, undefined, asked);
      exchange.access = guarded(permits, exchange, exchange.access);
      admit(exchange);
      return next();
    },
  };
}

function coverage(covers: GuardOptions["covers"]): (path: string) => boolean {
  if (covers === undefined) return () => true;
  if (typeof covers === "function") return covers;
  const patterns = covers.map(compilePathPattern);
  return (path) => patterns.some((pattern) => pattern.matches(path));
}
