/** Resolves at the first of these signals. The next one ends the process at once, as it does without a handler. */
export function signalled(...names: readonly NodeJS.Signals[]): Promise<void> {
  return new Promise((resolve) => {
    const received = (): void => {
      for (const name of names) process.off(name, received);
      resolve();
    };
    for (const name of names) process.on(name, received);
  });
}
