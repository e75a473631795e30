/** A body that arrives in these pieces, in chunks of HTTP. */
export async function* pieces(...list: readonly string[]): AsyncGenerator<string> {
  yield* list;
}

/** A body that has no end. */
export async function* endlessBody(piece: string): AsyncGenerator<string> {
  for (;;) yield piece;
}
