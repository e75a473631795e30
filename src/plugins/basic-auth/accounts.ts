import type { User } from "../../server/access.ts";
import type { Credentials } from "./credentials.ts";
import type { HashQueue } from "./hash-queue.ts";
import { createPermissions, type Permissions } from "./permissions.ts";
import type { PermissionRule, UserRecord } from "./users.ts";
import { createVerifier } from "./verifier.ts";

/** The users, and their permissions. */
export interface Accounts {
  readonly permissions: Permissions;
  /** The user whose credentials these are, or `undefined`. Throws a 503 where too many passwords wait to be checked. */
  identify(credentials: Credentials, signal: AbortSignal, address: string): Promise<User | undefined>;
}

/**
 * Decides about a name and a password. `true` or an object lets the user in, with the object's `roles`; `false`,
 * `undefined` and `null` do not. What it throws makes the request fail.
 */
export type CheckCredentials = (username: string, password: string) => CheckedCredentials | Promise<CheckedCredentials>;

/** What {@link CheckCredentials} may say. */
export type CheckedCredentials = boolean | null | undefined | { readonly roles?: readonly string[] | undefined };

/** What is kept while the accounts themselves change. */
export interface AccountsOptions {
  readonly cacheSeconds: number;
  readonly queue: HashQueue;
}

/** Accounts of a list of users. */
export function accountsOfUsers(
  users: readonly UserRecord[],
  rules: readonly PermissionRule[],
  { cacheSeconds, queue }: AccountsOptions,
): Accounts {
  const verifier = createVerifier({ users, cacheSeconds, queue });
  // One object for each user, by which the permissions remember what rules are about them.
  const known = new WeakMap<UserRecord, User>();
  return {
    permissions: createPermissions(rules),
    async identify({ username, password }, signal, address) {
      const record = await verifier.verify(username, password, signal, address);
      if (!record) return undefined;
      const user = known.get(record) ?? userOf(record.username, record.roles);
      known.set(record, user);
      return user;
    },
  };
}

/** Accounts that a function of the host program decides about. */
export function accountsOfFunction(check: CheckCredentials, rules: readonly PermissionRule[]): Accounts {
  return {
    permissions: createPermissions(rules),
    async identify({ username, password }) {
      const checked: unknown = await check(username, password);
      if (checked === false || checked === undefined || checked === null) return undefined;
      if (checked === true) return userOf(username, []);
      const roles: unknown = typeof checked === "object" ? (Reflect.get(checked, "roles") ?? []) : undefined;
      if (!Array.isArray(roles) || !roles.every((role) => typeof role === "string")) {
        throw new TypeError(
          "basicAuth: users() gave something else than true, false or an object with a list of roles",
        );
      }
      return userOf(username, roles);
    },
  };
}

// Frozen: a plugin that added a role would give it to all requests of the user.
function userOf(name: string, roles: readonly string[] = []): User {
  return Object.freeze({ name, roles: Object.freeze([...roles]) });
}
