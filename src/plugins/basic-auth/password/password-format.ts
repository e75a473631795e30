import { timingSafeEqual } from "node:crypto";

/** One way of storing passwords. */
export interface PasswordFormat {
  /** Tells texts that are meant to be of this format from all others. */
  readonly isMeant: RegExp;
  /** Takes such a text apart, once. A problem is why it cannot be used. */
  read(text: string): PasswordHash | { readonly problem: string };
}

/** A stored password that others can be compared with. */
export interface PasswordHash {
  /** What decides how long a comparison takes: two hashes of one kind cost the same. */
  readonly kind: string;
  /** Why something else should be used. */
  readonly warning?: string;
  /** Whether the password, in UTF-8, is the one that was stored. */
  matches(password: Buffer): Promise<boolean>;
}

/** One number of a hash that says how much work it is. */
export interface Cost {
  /** `"memory in MiB"` */
  readonly name: string;
  readonly value: number;
  /** The most that this server does for one password. */
  readonly ceiling: number;
}

/**
 * Names the parameter of a hash that takes too much work, if one does. A single hash in a users file could otherwise
 * stop the server: argon2 has parameters that take terabytes, bcrypt a cost that takes a day.
 */
export function aboveCeiling(format: string, costs: readonly Cost[]): string | undefined {
  const high = costs.find(({ value, ceiling }) => value > ceiling);
  return high && `the ${format} hash has ${high.name} ${high.value}: expected at most ${high.ceiling}`;
}

/** Compares two digests in a time that does not tell how much of them is alike. Their length is no secret. */
export function sameBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
