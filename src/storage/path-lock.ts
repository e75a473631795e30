/** Lets one task at a time run for each key, in the order they came. Tasks of different keys do not wait for each other. */
export class PathLock {
  /** A key is here while a task holds it, with those that wait for it. */
  readonly #waiting = new Map<string, Array<() => void>>();

  /** Runs `task` when all tasks before it under this key have ended, well or not; gives what it gives. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    await this.#enter(key);
    try {
      return await task();
    } finally {
      this.#leave(key);
    }
  }

  #enter(key: string): Promise<void> | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return new Promise((resolve) => waiting.push(resolve));
    this.#waiting.set(key, []);
    return undefined;
  }

  #leave(key: string): void {
    const next = this.#waiting.get(key)?.shift();
    if (next === undefined) {
      this.#waiting.delete(key);
      return;
    }
    // Not in this turn of the event loop: what our caller does at once on return (announcing its change) comes first,
    // so that changes are announced in the order in which they were made.
    setImmediate(next);
  }
}
