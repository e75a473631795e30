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
