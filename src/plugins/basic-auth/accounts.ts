import type { User } from "../../server/access.ts";
import type { PermissionRule } from "../permissions/rules.ts";
import { createPermissions, type Permissions } from "../permissions/rules.ts";
import type { Credentials } from "./credentials.ts";
import type { HashQueue } from "./hash-queue.ts";
import { LastAnswers } from "./last-answers.ts";
import type { UserRecord } from "./users.ts";
import { createVerifier } from "./verifier.ts";

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

/** What is kept while the accounts themselves change. */
export interface AccountsOptions {
  readonly cacheTime: number;
  readonly queue: HashQueue;
  /** Refuse anonymous clients whatever the rules say. */
  readonly requireUser?: boolean | undefined;
}

/** Accounts of a list of users. */
export function accountsOfUsers(
  users: readonly UserRecord[],
  rules: readonly PermissionRule[],
  { cacheTime, queue, requireUser = false }: AccountsOptions,
): Accounts {
  const verifier = createVerifier({ users, cacheTime, queue });
  const permissions = permissionsFor(rules, requireUser);
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
    async identify({ username, password }, signal, address) {
      const record = await verifier.verify(username, password, signal, address);
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

/** What users were made of, in any version of their accounts. */
const records = new WeakMap<User, UserRecord>();

/** Accounts that a function of the host program decides about. */
export function accountsOfFunction(
  check: CheckCredentials,
  rules: readonly PermissionRule[],
  requireUser: boolean = false,
): Accounts {
  const permissions = permissionsFor(rules, requireUser);
  const answers = new LastAnswers(async ({ username, password }) => {
    const checked: unknown = await check(username, password);
    if (checked === false || checked === undefined || checked === null) return undefined;
    if (checked === true) return userOf(username, []);
    const roles: unknown = typeof checked === "object" ? (Reflect.get(checked, "roles") ?? []) : undefined;
    if (!Array.isArray(roles) || !roles.every((role) => typeof role === "string")) {
      throw new TypeError("basicAuth: users() gave something else than true, false or an object with a list of roles");
    }
    return userOf(username, roles);
  });
  return {
    permissions,
    ready: permissions.prepare(),
    identify: (credentials) => answers.identify(credentials),
    renewed: (user) => answers.latest(user),
  };
}

function permissionsFor(rules: readonly PermissionRule[], requireUser: boolean): Permissions {
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
