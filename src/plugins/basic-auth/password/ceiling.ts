/** One number of a hash that says how much work it is. */
export interface Cost {
  /** `"memory in MiB"` */
  readonly name: string;
  readonly value: number;
  /** The most that this server does for one password. */
  readonly ceiling: number;
}

/**
 * Names the parameter of a hash that takes too much work, if one does. A single hash in a users file could otherwise stop
 * the server: argon2 has parameters that take terabytes, bcrypt a cost that takes a day.
 */
export function aboveCeiling(format: string, costs: readonly Cost[]): string | undefined {
  const high = costs.find(({ value, ceiling }) => value > ceiling);
  return high && `the ${format} hash has ${high.name} ${high.value}: expected at most ${high.ceiling}`;
}
