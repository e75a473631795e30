import type { User } from "../../server/access.ts";
import { latestUser } from "../permissions/latest-user.ts";
import { createPermissions, type PermissionRule, type Permissions } from "../permissions/rules.ts";
import type { Credentials } from "./credentials.ts";
import type { UserRecord } from "./users.ts";
import { createVerifier, type Hashing } from "./verifier.ts";

/** The users, and their permissions. */
export interface Accounts {
  readonly permissions: Permissions;
  /** Resolves when the accounts are ready to use without holding the event loop. */
  readonly ready: Promise<void>;
  /** The user whose credentials these are, or `undefined`. Throws a 503 where too many passwords wait to be checked. */
  identify(credentials: Credentials, signal: AbortSignal, address: string): Promise<User | undefined>;
  /** The same user in these accounts; `undefined` for one who was removed, or has another password by now. */
  renewed(user: User): User | undefined;
}

/**
 * Decides about a name and a password. `true` or an object lets the user in, with the object's `roles`; `false`,
 * `undefined` and `null` do not. What it throws makes the request fail.
 */
export type CheckCredentials = (username: string, password: string) => CheckedCredentials | Promise<CheckedCredentials>;

/** What {@link CheckCredentials} may say. */
export type CheckedCredentials = boolean | null | undefined | { readonly roles?: readonly string[] | undefined };

/** What users were made of, in any version of their accounts. */
const records = new WeakMap<User, UserRecord>();

/** Accounts of a list of users. */
export function accountsOfUsers(users: readonly UserRecord[], permissions: Permissions, hashing: Hashing): Accounts {
  const verifier = createVerifier(users, hashing);
  // One object for each user, by which the permissions remember the rules about them.
  const known = new WeakMap<UserRecord, User>();
  const userOfRecord = (record: UserRecord): User => {
    const user = known.get(record) ?? userOf(record.username, record.roles);
    known.set(record, user);
    records.set(user, record);
    return user;
  };
  return {
    permissions,
    ready: verifier.ready.then(() => permissions.prepare()), // side by side, each turn would have a slice of both
    async identify(credentials, signal, address) {
      const record = await verifier.verify(credentials, signal, address);
      return record && userOfRecord(record);
    },
    renewed(user) {
      const before = records.get(user);
      const record = verifier.find(user.name);
      const isSame = record && before && record.password === before.password && record.encryption === before.encryption;
      return isSame ? userOfRecord(record) : undefined;
    },
  };
}

/** Accounts that a function of the host program decides about. */
export function accountsOfFunction(check: CheckCredentials, permissions: Permissions): Accounts {
  const latest = new WeakMap<User, () => User | undefined>();
  const ask = async ({ username, password }: Credentials): Promise<User | undefined> => {
    const checked: unknown = await check(username, password);
    if (checked === false || checked === undefined || checked === null) return undefined;
    if (checked === true) return userOf(username);
    const roles: unknown = typeof checked === "object" ? (Reflect.get(checked, "roles") ?? []) : undefined;
    if (!Array.isArray(roles) || !roles.every((role) => typeof role === "string")) {
      throw new TypeError("basicAuth: users() gave something else than true, false or an object with a list of roles");
    }
    return userOf(username, roles);
  };
  return {
    permissions,
    ready: permissions.prepare(),
    async identify(credentials) {
      const user = await ask(credentials);
      if (user)
        latest.set(
          user,
          latestUser(user, () => ask(credentials)),
        );
      return user;
    },
    renewed: (user) => latest.get(user)?.(),
  };
}

/** Permissions by rules; where a user is required, anonymous clients have none whatever the rules say. */
export function permissionsFor(rules: readonly PermissionRule[], requireUser: boolean): Permissions {
  const permissions = createPermissions(rules);
  if (!requireUser) return permissions;
  return {
    ...permissions,
    anyoneMayWrite: false,
    forAnyone: { allow: new Set(), deny: new Set() },
    permits: (user, ...asked) => user !== undefined && permissions.permits(user, ...asked),
  };
}

// Frozen: a plugin that added a role would give it to all requests of the user.
function userOf(name: string, roles: readonly string[] = []): User {
  return Object.freeze({ name, roles: Object.freeze([...roles]) });
}
