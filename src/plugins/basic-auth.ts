import { documentKind } from "../http/content-type.ts";
import { HttpError } from "../http/http-error.ts";
import { type Access, rightsOf, type User } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";
import type { Accounts, CheckCredentials } from "./basic-auth/accounts.ts";
import { accountsSource } from "./basic-auth/accounts-source.ts";
import { readCredentials } from "./basic-auth/credentials.ts";
import { checkBasicAuthOptions } from "./basic-auth/options.ts";
import type { Permissions } from "./basic-auth/permissions.ts";
import type { PermissionRule, UserRecord } from "./basic-auth/users.ts";

/** Options for {@link basicAuth}. Either `authfile` or `users`. */
export interface BasicAuthOptions {
  /**
   * A path or a `file://` location of a users file, read again whenever it changes; a relative path starts at the working
   * directory. @default none
   */
  readonly authfile?: string | URL | undefined;
  /** The users, or a function that decides about a name and a password. @default none */
  readonly users?: readonly UserRecord[] | CheckCredentials | undefined;
  /** Who may do what where; those of the users file come in addition. @default every user everything, others nothing */
  readonly rules?: readonly PermissionRule[] | undefined;
  /** What browsers show where they ask for a password: printable ASCII characters. @default "filement" */
  readonly realm?: string | undefined;
  /** Seconds for which a password that was right is believed without hashing it again; 0 for never. @default 300 */
  readonly cacheSeconds?: number | undefined;
  /** Passwords that are hashed at once. @default 2 */
  readonly maxConcurrentChecks?: number | undefined;
  /** Passwords that may wait to be hashed; with more, the answer is 503. @default 100 */
  readonly maxQueuedChecks?: number | undefined;
}

/**
 * Lets in who sends a right name and password (RFC 7617), and decides by rules what everybody may do, known or not. Without
 * permission the answer is 401 to those who could still sign in and 403 to those who have, before any later plugin is
 * asked. Later plugins find the user in `exchange.user` and, by name, in the metadata `authenticated_user`.
 *
 * Throws a `ConfigError` for options that cannot work; a users file that is missing, empty or wrong keeps the server from
 * starting. A new version of the file takes effect at once, or, if it is wrong, not at all.
 *
 * @example
 * createFileServer({ root: "site", plugins: [basicAuth({ authfile: "/etc/site/users.html" })] });
 */
export function basicAuth(options: BasicAuthOptions): Plugin {
  checkBasicAuthOptions(options);
  const { realm = "filement" } = options;
  const source = accountsSource(options);
  const challenge = `Basic realm="${realm.replace(/["\\]/g, "\\$&")}", charset="UTF-8"`;
  return {
    name: "basic-auth",
    start: (site) => source.start(site),
    close: () => source.close(),
    async handle(exchange, next) {
      const accounts = await source.current();
      const user = await identify(exchange, accounts, challenge);
      if (user) {
        exchange.user = user;
        exchange.metadata.set("authenticated_user", user.name);
      }
      let isJudged = false;
      exchange.access = boundAccess(accounts.permissions, user, challenge, exchange.access, () => {
        isJudged = true;
      });
      const admitted = admit(exchange);
      isJudged = false; // so far it was only asked from here
      const reply = await next();
      if (admitted === "for elements" && !isJudged && hasAnswered(reply)) throw exchange.access.refusal();
      return dependingOnUser(reply);
    },
  };
}

/** The user who asks; `undefined` for somebody who does not say. Throws 401 for what is said and wrong. */
async function identify(exchange: Exchange, accounts: Accounts, challenge: string): Promise<User | undefined> {
  const credentials = readCredentials(exchange.header("authorization"), exchange.count("authorization"));
  if (credentials === "none") return undefined;
  if (credentials === "unreadable") {
    throw unauthorized(challenge, "The Authorization header holds no user name and password of the Basic scheme.");
  }
  const user = await accounts.identify(credentials, exchange.signal).catch((error) => {
    if (!exchange.signal.aborted) throw error;
    throw new HttpError(499, "CLIENT_LEFT", "The client left before it was answered.");
  });
  if (!user) throw unauthorized(challenge, "The user name or the password is wrong.");
  return user;
}

/**
 * What one user may do. Where an earlier plugin has set limits, they remain. `onJudged` is called when somebody asks about
 * a whole file, or about elements and knows which.
 */
function boundAccess(
  permissions: Permissions,
  user: User | undefined,
  challenge: string,
  before: Access,
  onJudged: () => void,
): Access {
  return {
    permits(right, path, elements) {
      if (elements !== "any") onJudged();
      return permissions.permits(user, right, path, elements) && before.permits(right, path, elements);
    },
    refusal: () =>
      user
        ? new HttpError(403, "FORBIDDEN", "You may not do this.", { headers: { vary } })
        : unauthorized(challenge, "Send a user name and a password."),
  };
}

/**
 * Decides by path and method alone, so that what stands behind is protected, whatever it is, and a refusal looks the same
 * for what exists and what does not. Whoever may have only some elements is let through to where it is known which.
 */
function admit({ method, path, headers, access }: Exchange): "for the whole" | "for elements" {
  const place = path === "*" ? "/" : path; // the server as a whole, which OPTIONS asks about
  const rights = rightsOf(method);
  if (rights.some((right) => access.permits(right, place))) return "for the whole";
  const isPossible = canHaveElements(place) && /^selector=/i.test(headers.range ?? "");
  if (isPossible && rights.some((right) => access.permits(right, place, "any"))) return "for elements";
  throw access.refusal();
}

function canHaveElements(path: string): boolean {
  return documentKind(path) !== undefined || path.endsWith("/");
}

/** A plugin that knows nothing of elements answers with all it has. Errors, and that nothing matches, are no answers. */
function hasAnswered({ status }: Reply): boolean {
  return status < 400 && status !== 204;
}

const vary = "accept, authorization";

function unauthorized(challenge: string, details: string): HttpError {
  return new HttpError(401, "UNAUTHORIZED", details, { headers: { "www-authenticate": challenge, vary } });
}

/** Tells caches that another user may be answered otherwise. */
function dependingOnUser(reply: Reply): Reply {
  const known = String(reply.headers["vary"] ?? "");
  if (/(?:^|,)\s*(?:authorization|\*)\s*(?:,|$)/i.test(known)) return reply;
  return { ...reply, headers: { ...reply.headers, vary: known === "" ? "authorization" : `${known}, authorization` } };
}
