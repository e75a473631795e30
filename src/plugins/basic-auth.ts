import { ConfigError } from "../config.ts";
import { atOnce, inSlices } from "../event-loop/sliced-work.ts";
import { HttpError } from "../http/http-error.ts";
import { filePath } from "../local-files/file-path.ts";
import { checkOptions } from "../options/check-config.ts";
import { fileLocation, pluginOptions } from "../options/option-types.ts";
import { listOf, type OptionsSchema, optionsOf, secret, text, yesOrNo } from "../options/schema.ts";
import type { User } from "../server/access.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import {
  type Accounts,
  accountsOfFunction,
  accountsOfUsers,
  type CheckCredentials,
  createHashing,
} from "./basic-auth/accounts.ts";
import { readCredentials } from "./basic-auth/credentials.ts";
import { type KnownUser, parseHash } from "./basic-auth/password.ts";
import { type UserRecord, userNameProblem } from "./basic-auth/users.ts";
import { readUsersFile } from "./basic-auth/users-file.ts";
import { applyRules } from "./permissions/apply-rules.ts";
import { createPermissions, type PermissionRule, type Permissions, ruleSchema } from "./permissions/rules.ts";
import { fileSource, fixedSource, type Source } from "./permissions/source.ts";

/** Options for {@link basicAuth}. Either `authfile` or `users`. */
export interface BasicAuthOptions {
  /**
   * A path or a `file://` location of a users file, read again whenever it changes; a relative path starts at the
   * working directory. @default none
   */
  readonly authfile?: string | URL | undefined;
  /** The users, or a function that decides about a name and a password. @default none */
  readonly users?: readonly UserRecord[] | CheckCredentials | undefined;
  /** Rules in addition to those of the users file. @default users may do everything, anonymous clients nothing */
  readonly rules?: readonly PermissionRule[] | undefined;
  /** Refuse anonymous clients whatever the rules allow to `"*"`. @default false */
  readonly requireUser?: boolean | undefined;
  /** What browsers show where they ask for a password: printable ASCII characters. @default "filement" */
  readonly realm?: string | undefined;
}

const userRecord = optionsOf(
  {
    username: text("a username"),
    password: text("a password"),
    encryption: text("the name of an encryption"),
    roles: listOf(text("a name"), "a list of names"),
  },
  "an object with username and password",
  ["username", "password"],
);
const userList = listOf(userRecord, "a list of users or a function", "at least one user");

export const basicAuthOptions: OptionsSchema = pluginOptions({
  authfile: fileLocation,
  users: secret({ problemsOf: (users) => (typeof users === "function" ? [] : userList.problemsOf(users)) }),
  rules: listOf(ruleSchema, "a list of rules"),
  // It stands between quotes in a header field, and many clients know no more than this.
  requireUser: yesOrNo,
  realm: text("printable ASCII characters", (value) => /^[\x20-\x7e]+$/.test(value)),
});

/**
 * Authenticates clients by user name and password (RFC 7617) and applies permission rules to all, anonymous ones
 * included. A request without permission gets 401 where the client is anonymous and 403 where it is signed in, before
 * any later plugin runs. Later plugins find the user in `exchange.user`, and the name in the metadata
 * `authenticated_user`.
 *
 * Throws a `ConfigError` for options that cannot work; a users file that is missing, empty or wrong keeps the server
 * from starting. A new version of the file takes effect at once, or, if it is wrong, not at all.
 *
 * @example
 * createFileServer({ root: "site", plugins: [basicAuth({ authfile: "/etc/site/users.html" })] });
 */
export function basicAuth(options: BasicAuthOptions): Plugin {
  checkOptions("basicAuth", basicAuthOptions, options);
  const { realm = "filement", requireUser = false } = options;
  const source = accountsSource(options);
  const challenge = `Basic realm="${realm.replace(/["\\]/g, "\\$&")}", charset="UTF-8"`;
  return {
    name: "basic-auth",
    anonymousMayWrite: () => !requireUser && source.latest().permissions.anyoneMayWrite,
    start: (site) => source.start(site),
    close: () => source.close(),
    async handle(exchange, next) {
      const { accounts, permissions } = await source.current();
      const user = await identify(exchange, accounts, challenge);
      const noUser = (): HttpError => unauthorized(challenge, "Send a user name and a password.");
      if (requireUser && !user) throw noUser();
      return applyRules(exchange, next, {
        permissions,
        user,
        renewed() {
          const { accounts, permissions } = source.latest();
          const known = user && accounts.renewed(user);
          return user && !known ? "gone" : { permissions, user: known };
        },
        unauthorized: noUser,
        vary: ["authorization"],
      });
    },
  };
}

interface UsersAndRules {
  readonly accounts: Accounts;
  readonly permissions: Permissions;
}

function accountsSource({ authfile, users, rules = [] }: BasicAuthOptions): Source<UsersAndRules> {
  if ((authfile === undefined) === (users === undefined)) wrong(["expected either authfile or users"]);
  const hashing = createHashing();
  const path = authfile === undefined ? undefined : filePath(String(authfile));
  if (path !== undefined) {
    return fileSource({
      plugin: "basicAuth",
      location: path,
      failure: "the users file has changed and cannot be used; the former users and rules remain in force",
      async load() {
        const found = await readUsersFile(path);
        const permissions = createPermissions([...rules, ...found.rules]);
        const accounts = await inSlices(accountsOfUsers(found.users, hashing));
        return { ...found, content: { accounts, permissions } };
      },
    });
  }
  const permissions = createPermissions(rules);
  if (typeof users === "function") {
    return fixedSource("basicAuth", { accounts: accountsOfFunction(users), permissions });
  }
  const known = knownUsers(users ?? []);
  const warnings = known.flatMap(({ record, stored: { warning } }) =>
    warning === undefined ? [] : [`user ${JSON.stringify(record.username)}: ${warning}`],
  );
  return fixedSource("basicAuth", { accounts: atOnce(accountsOfUsers(known, hashing)), permissions }, warnings);
}

function wrong(problems: readonly string[]): never {
  throw new ConfigError(problems.map((problem) => `basicAuth: ${problem}`));
}

/** The users of a list. Throws a `ConfigError` that names everything that is wrong, and repeats no password. */
function knownUsers(users: readonly UserRecord[]): readonly KnownUser[] {
  const problems: string[] = [];
  const known = new Map<string, KnownUser>();
  for (const record of users) {
    const { username } = record;
    const stored = parseHash(record);
    const problem = userNameProblem(username);
    if (problem !== undefined) problems.push(problem);
    if (stored.problem !== undefined) problems.push(`user ${JSON.stringify(username)}: ${stored.problem}`);
    if (known.has(username)) problems.push(`user ${JSON.stringify(username)} is there twice`);
    known.set(username, { record, stored });
  }
  if (problems.length > 0) wrong(problems);
  return [...known.values()];
}

/** The user of a request; `undefined` for an anonymous one. Throws 401 for wrong credentials. */
async function identify(exchange: Exchange, accounts: Accounts, challenge: string): Promise<User | undefined> {
  const credentials = readCredentials(exchange.header("authorization"), exchange.count("authorization"));
  if (credentials === "none") return undefined;
  if (credentials === "unreadable") {
    throw unauthorized(challenge, "The Authorization header holds no user name and password of the Basic scheme.");
  }
  const user = await accounts.identify(credentials, exchange.address);
  if (!user) throw unauthorized(challenge, "The user name or the password is wrong.");
  return user;
}

function unauthorized(challenge: string, details: string): HttpError {
  return new HttpError(401, "UNAUTHORIZED", details, {
    headers: { "www-authenticate": challenge, vary: "accept, authorization" },
  });
}
