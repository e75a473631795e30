import { TimeSlice } from "../../event-loop/sliced-work.ts";
import type { StoredPassword } from "./password.ts";
import type { UserRecord } from "./users.ts";

/** Most kinds of hashes compared in a failed attempt. Files have one or two kinds, and each costs time. */
const maxDecoys = 4;

/** A list of users, ready to check passwords. */
export interface PasswordCheck {
  /** Resolves when all users of the list are read, which happens in slices. */
  readonly ready: Promise<void>;
  /** The user of a name; `undefined` also for one that is not read yet. */
  find(username: string): UserRecord | undefined;
  /** The user of that name if the password is theirs. */
  check(username: string, password: string): Promise<UserRecord | undefined>;
}

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
  const kinds = new Map<string, { readonly decoy: StoredPassword; count: number }>();
  let decoys: readonly StoredPassword[] = [];

  async function readUsers(): Promise<void> {
    const slice = new TimeSlice();
    for (const user of users) {
      if (slice.isOver) await slice.renew();
      if (known.has(user.username)) continue;
      const stored = parse(user);
      known.set(user.username, { user, stored });
      if (stored.kind === undefined) continue;
      const kind = kinds.get(stored.kind) ?? { decoy: stored, count: 0 };
      kind.count += 1;
      kinds.set(stored.kind, kind);
    }
    const byCount = [...kinds.values()].sort((one, other) => other.count - one.count);
    decoys = byCount.slice(0, maxDecoys).map(({ decoy }) => decoy);
  }

  const ready = readUsers();
  return {
    ready,
    find: (username) => known.get(username)?.user,
    async check(username, password) {
      await ready;
      const own = known.get(username);
      if (await own?.stored.matches(password)) return own?.user;
      for (const decoy of decoys) {
        if (decoy.kind !== own?.stored.kind) await decoy.matches(password); // whatever it says, the answer is no
      }
      return undefined;
    },
  };
}
