import type { StoredPassword } from "./password.ts";
import type { UserRecord } from "./users.ts";

/** Most kinds of hashes compared in a failed attempt. Files have one or two kinds, and each costs time. */
const maxDecoys = 4;

/** The user of that name if the password is theirs. */
export type PasswordCheck = (username: string, password: string) => Promise<UserRecord | undefined>;

/**
 * Makes a check whose time does not tell which names exist. A failed attempt compares the password with one hash of each
 * kind in the list: the user's own, where the name exists, and another user's for each other kind. This holds for the
 * four most common kinds. Of two users of one name, the first counts.
 */
export function createPasswordCheck(
  users: readonly UserRecord[],
  parse: (record: UserRecord) => StoredPassword,
): PasswordCheck {
  const known = new Map<string, { readonly user: UserRecord; readonly stored: StoredPassword }>();
  for (const user of users) {
    if (!known.has(user.username)) known.set(user.username, { user, stored: parse(user) });
  }
  const decoys = mostCommonKinds([...known.values()].map(({ stored }) => stored));

  return async (username, password) => {
    const own = known.get(username);
    if (await own?.stored.matches(password)) return own?.user;
    for (const decoy of decoys) {
      if (decoy.kind !== own?.stored.kind) await decoy.matches(password); // whatever it says, the answer is no
    }
    return undefined;
  };
}

function mostCommonKinds(passwords: readonly StoredPassword[]): readonly StoredPassword[] {
  const byKind = new Map<string, { readonly decoy: StoredPassword; count: number }>();
  for (const stored of passwords) {
    if (stored.kind === undefined) continue;
    const seen = byKind.get(stored.kind) ?? { decoy: stored, count: 0 };
    seen.count += 1;
    byKind.set(stored.kind, seen);
  }
  const kinds = [...byKind.values()].sort((one, other) => other.count - one.count);
  return kinds.slice(0, maxDecoys).map(({ decoy }) => decoy);
}
