import { TimeSlice } from "../event-loop/sliced-work.ts";
import { HttpError } from "../http/http-error.ts";
import { filePath } from "../local-files/file-path.ts";
import type { User } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import {
  type Accounts,
  accountsOfFunction,
  accountsOfUsers,
  type CheckCredentials,
  permissionsFor,
} from "./basic-auth/accounts.ts";
import { readCredentials } from "./basic-auth/credentials.ts";
import { checkBasicAuthOptions } from "./basic-auth/options.ts";
import { parseHash } from "./basic-auth/password.ts";
import type { UserRecord } from "./basic-auth/users.ts";
import { readUsersFile } from "./basic-auth/users-file.ts";
import { createHashing } from "./basic-auth/verifier.ts";
import { applyRules, type Verdict } from "./permissions/apply-rules.ts";
import type { PermissionRule } from "./permissions/rules.ts";
import { fileSource, fixedSource, type Source } from "./permissions/source.ts";

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
  /** Refuse anonymous clients whatever the rules allow to `"*"`. @default false */
  readonly requireUser?: boolean | undefined;
  /** What browsers show where they ask for a password: printable ASCII characters. @default "filement" */
  readonly realm?: string | undefined;
  /** Seconds for which a password that was right is believed without hashing it again; 0 for never. @default 300 */
  readonly cacheTime?: number | undefined;
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
  return {
    name: "basic-auth",
    anonymousMayWrite: () => source.latest().permissions.anyoneMayWrite,
    start: (site) => source.start(site),
    close: () => source.close(),
    async handle(exchange, next) {
      const accounts = await source.current();
      const user = await identify(exchange, accounts, challenge);
      return applyRules(exchange, next, {
        permissions: accounts.permissions,
        user,
        renewed: () => renewed(source.latest(), user),
        unauthorized: () => unauthorized(challenge, "Send a user name and a password."),
        vary: ["authorization"],
      });
    },
  };
}

/** Where the users that checked options name come from. */
function accountsSource(options: BasicAuthOptions): Source<Accounts> {
  const { authfile, users = [], rules = [], cacheTime = 300, requireUser = false } = options;
  const hashing = createHashing(cacheTime);
  const path = authfile === undefined ? undefined : filePath(String(authfile));
  if (path !== undefined) {
    return fileSource({
      plugin: "basicAuth",
      location: path,
      failure: "the users file has changed and cannot be used; the former users and rules remain in force",
      async load() {
        const found = await readUsersFile(path);
        await new TimeSlice().renew(); // checking thousands of rules and sorting them each take milliseconds
        const permissions = permissionsFor([...rules, ...found.rules], requireUser);
        const content = accountsOfUsers(found.users, permissions, hashing);
        await content.ready;
        return { content, warnings: found.warnings };
      },
    });
  }
  const permissions = permissionsFor(rules, requireUser);
  if (typeof users === "function") {
    return fixedSource("basicAuth", { content: accountsOfFunction(users, permissions), warnings: [] });
  }
  const warnings = users.flatMap((user) => {
    const { warning } = parseHash(user);
    return warning === undefined ? [] : [`user ${JSON.stringify(user.username)}: ${warning}`];
  });
  return fixedSource("basicAuth", { content: accountsOfUsers(users, permissions, hashing), warnings });
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

/** Who a user is by now, and by which rules that is judged; `"gone"` for one who was removed. */
function renewed(accounts: Accounts, user: User | undefined): Verdict | "gone" {
  const { permissions } = accounts;
  if (!user) return { permissions, user };
  const known = accounts.renewed(user);
  return known ? { permissions, user: known } : "gone";
}

function unauthorized(challenge: string, details: string): HttpError {
  return new HttpError(401, "UNAUTHORIZED", details, {
    headers: { "www-authenticate": challenge, vary: "accept, authorization" },
  });
}
