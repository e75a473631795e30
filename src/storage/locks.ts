import { StorageError } from "./storage.ts";

/** A lock that is held. */
export interface HeldLock {
  /** Whether another process is known to wait for it. */
  readonly isAwaited: boolean;
  /**
   * For a lock with a time limit: whether that may be over. Then another may hold it, and nothing must be changed under
   * it.
   */
  isOver?(): boolean;
  release(): void;
}

/** Throws where the time limit of a lock may be over. */
export function requireHeld(...locks: readonly (HeldLock | undefined)[]): void {
  if (!locks.some((held) => held?.isOver?.())) return;
  throw new StorageError("busy", new Error("the lock of the file has run out"));
}

/**
 * Locks between processes that share files. A lock ends with its holder, however that ends. One process asks for one
 * key at a time: {@link PathLock} stands in front.
 */
export interface Locks {
  /**
   * Waits until the key is free. Throws a `StorageError` `busy` where that takes too long, counted from `since`, in
   * milliseconds of `performance.now()`. @default from now on
   */
  acquire(key: string, since?: number): Promise<HeldLock>;
  tryAcquire(key: string): Promise<HeldLock | undefined>;
}

/** Locks between machines that share a directory. Keys are paths in it. */
export interface SharedLocks extends Locks {
  /** Called when a storage that uses them closes. */
  close?(): void | Promise<void>;
}

/**
 * Lets one task at a time run for each key, in the order they came. Tasks of different keys do not wait for each other.
 * With `locks`, tasks of other processes that use the same locks count as well.
 */
export class PathLock {
  readonly #locks: Locks | undefined;
  /** A key is here while a task holds it, with those that wait for it. */
  readonly #waiting = new Map<string, Array<(passedOn: HeldLock | undefined) => void>>();

  constructor(locks?: Locks) {
    this.#locks = locks;
  }

  /**
   * Runs `task` when all tasks before it under this key have ended, well or not; gives what it gives. Tasks that wait
   * for one of another process wait side by side, not one after the other: each `since` it came.
   */
  async run<T>(
    key: string,
    task: (held: HeldLock | undefined) => Promise<T>,
    since: number = performance.now(),
  ): Promise<T> {
    let held = await this.#enter(key);
    try {
      if (this.#locks) held ??= await this.#locks.acquire(key, since);
      return await task(held);
    } finally {
      this.#leave(key, held);
    }
  }

  /** Runs `task` if the key is free; `undefined` otherwise. */
  async tryRun<T>(
    key: string,
    task: (held: HeldLock | undefined) => Promise<T>,
  ): Promise<{ readonly value: T } | undefined> {
    if (this.#waiting.has(key)) return undefined;
    this.#waiting.set(key, []);
    let held: HeldLock | undefined;
    try {
      held = await this.#locks?.tryAcquire(key);
      if (this.#locks && !held) return undefined;
      return { value: await task(held) };
    } finally {
      this.#leave(key, held);
    }
  }

  #enter(key: string): Promise<HeldLock | undefined> | undefined {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return new Promise((resolve) => waiting.push(resolve));
    this.#waiting.set(key, []);
    return undefined;
  }

  #leave(key: string, held: HeldLock | undefined): void {
    const next = this.#waiting.get(key)?.shift();
    // Passed on while no other process wants it: giving it up and taking it again costs more than most tasks.
    const passedOn = next && !held?.isAwaited ? held : undefined;
    if (!passedOn) held?.release();
    if (next === undefined) {
      this.#waiting.delete(key);
      return;
    }
    // Not in this turn of the event loop: what our caller does at once on return (announcing its change) comes first,
    // so that changes are announced in the order in which they were made.
    setImmediate(next, passedOn);
  }
}
