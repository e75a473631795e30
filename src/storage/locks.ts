/** A lock that somebody holds. */
export interface HeldLock {
  /** Whether another process is known to wait for it. */
  readonly isAwaited: boolean;
  /** Gives the lock up; others may have it from now on. */
  release(): void;
}

/**
 * Locks between processes that share files. A lock ends with its holder, however that ends. One process asks for one key
 * at a time: {@link PathLock} stands in front.
 */
export interface Locks {
  /**
   * Waits until nobody else holds the key. Throws a `StorageError` `busy` where that takes too long, counted from `since`, in
   * milliseconds of `performance.now()`. @default from now on
   */
  acquire(key: string, since?: number): Promise<HeldLock>;
  /** The lock, if it can be had at once. */
  tryAcquire(key: string): Promise<HeldLock | undefined>;
}
