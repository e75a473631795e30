/** One number of a hash that says how much work it is. */
export interface Cost {
  /** `"memory in MiB"` */
  readonly name: string;
  readonly value: number;
  /** The most that this server does for one password. */
  readonly ceiling: number;
}

/**
 * Says which number of a hash asks for too much work, if one does. Whoever can write a hash into a users file could
 * otherwise stop the server with it: argon2 knows parameters that take terabytes, bcrypt some that take a day.
 */
export function aboveCeiling(format: string, costs: readonly Cost[]): string | undefined {
  const high = costs.find(({ value, ceiling }) => value > ceiling);
  return high && `the ${format} hash has ${high.name} ${high.value}: expected at most ${high.ceiling}`;
}
