import { documentKind } from "../http/content-type.ts";
import { HttpError } from "../http/http-error.ts";
import { isSelectorRange } from "../http/selector-range.ts";
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
  /** Permission rules, in addition to those of the users file. @default users may do everything, anonymous clients nothing */
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
 * Authenticates clients by user name and password (RFC 7617) and applies permission rules to all, anonymous ones included.
 * A request without permission gets 401 where the client is anonymous and 403 where it is signed in, before any later
 * plugin runs. Later plugins find the user in `exchange.user`, and the name in the metadata `authenticated_user`.
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
  const plugin: Plugin & { anonymousMayWrite(): boolean } = {
    name: "basic-auth",
    anonymousMayWrite: () => source.latest().permissions.anyoneMayWrite,
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
      const deciding = { permissions: accounts.permissions, user, before: exchange.access, challenge };
      const current = (): Access => renewedAccess(source.latest(), deciding, current);
      exchange.access = boundAccess(deciding, current, () => {
        isJudged = true;
      });
      const admitted = admit(exchange);
      isJudged = false; // so far only `admit` has asked
      const reply = await next();
      if (admitted === "for elements" && !isJudged && hasAnswered(reply)) throw exchange.access.refusal();
      return dependingOnUser(reply);
    },
  };
  return plugin;
}

/** The user of a request; `undefined` for an anonymous one. Throws 401 for wrong credentials. */
async function identify(exchange: Exchange, accounts: Accounts, challenge: string): Promise<User | undefined> {
  const credentials = readCredentials(exchange.header("authorization"), exchange.count("authorization"));
  if (credentials === "none") return undefined;
  if (credentials === "unreadable") {
    throw unauthorized(challenge, "The Authorization header holds no user name and password of the Basic scheme.");
  }
  const user = await accounts.identify(credentials, exchange.signal, exchange.address).catch((error) => {
    if (!exchange.signal.aborted) throw error;
    throw new HttpError(499, "CLIENT_LEFT", "The client left before it was answered.");
  });
  if (!user) throw unauthorized(challenge, "The user name or the password is wrong.");
  return user;
}

/** What decides about one client. */
interface Deciding {
  readonly permissions: Permissions;
  /** `undefined` for an anonymous client. */
  readonly user: User | undefined;
  /** The limits that earlier plugins have set. */
  readonly before: Access;
  readonly challenge: string;
}

/**
 * The access of one client. `current` gives the permissions and the user of later; `onJudged` is called for each question
 * about a whole file or about known elements.
 */
function boundAccess(
  { permissions, user, before, challenge }: Deciding,
  current: () => Access,
  onJudged: () => void = () => {},
): Access {
  return {
    permits(right, path, elements) {
      if (elements !== "any") onJudged();
      return permissions.permits(user, right, path, elements) && before.permits(right, path, elements);
    },
    current,
    refusal: () =>
      user
        ? new HttpError(403, "FORBIDDEN", "You may not do this.", { headers: { vary } })
        : unauthorized(challenge, "Send a user name and a password."),
  };
}

/** The access that a client has by now. A user who was removed has none, not even that of anonymous clients. */
function renewedAccess(accounts: Accounts, deciding: Deciding, current: () => Access): Access {
  const user = deciding.user && accounts.renewed(deciding.user);
  const before = deciding.before.current?.() ?? deciding.before;
  const access = boundAccess({ ...deciding, permissions: accounts.permissions, user, before }, current);
  return user === undefined && deciding.user ? { ...access, permits: () => false } : access;
}

/**
 * Decides by path and method alone, so that every later plugin is protected, and a refusal does not tell whether the file
 * exists. A user who may access only some elements passes; the elements are judged once they are known.
 */
function admit({ method, path, headers, access }: Exchange): "for the whole" | "for elements" {
  const place = path === "*" ? "/" : path; // the server as a whole, which OPTIONS asks about
  const rights = rightsOf(method);
  if (rights.some((right) => access.permits(right, place))) return "for the whole";
  const isPossible = canHaveElements(place) && isSelectorRange(headers.range);
  if (isPossible && rights.some((right) => access.permits(right, place, "any"))) return "for elements";
  throw access.refusal();
}

function canHaveElements(path: string): boolean {
  return documentKind(path) !== undefined || path.endsWith("/");
}

/** Whether a reply has content. A plugin that ignores selectors answers with whole files. */
function hasAnswered({ status }: Reply): boolean {
  return status < 400 && status !== 204;
}

const vary = "accept, authorization";

function unauthorized(challenge: string, details: string): HttpError {
  return new HttpError(401, "UNAUTHORIZED", details, { headers: { "www-authenticate": challenge, vary } });
}

/** Tells caches that the reply depends on the user. */
function dependingOnUser(reply: Reply): Reply {
  const known = String(reply.headers["vary"] ?? "");
  if (/(?:^|,)\s*(?:authorization|\*)\s*(?:,|$)/i.test(known)) return reply;
  return { ...reply, headers: { ...reply.headers, vary: known === "" ? "authorization" : `${known}, authorization` } };
}
