/** How long a path must be quiet before it is looked at, and how long that is put off at most, in milliseconds. */
const quietMs = 100;
const maxDelayMs = 1000;

/** How many paths are looked at together: enough to keep the thread pool busy, few enough to leave others room. */
const maxAtOnce = 16;

/** How many paths are found to be at rest in one go: more would hold the event loop. */
const maxReady = 1000;

/**
 * Paths to which something happens, each looked at once it has come to rest: an editor that empties a file and then
 * writes it in pieces makes one change, not five. No path is looked at twice at the same time.
 */
export class QuietPaths {
  readonly #look: (path: string) => Promise<void>;
  /** Not yet at rest, in the order in which they are due. */
  readonly #restless = new Map<string, { readonly since: number; readonly due: number }>();
  readonly #ready = new Set<string>();
  readonly #underWay = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `look` must not reject. */
  constructor(look: (path: string) => Promise<void>) {
    this.#look = look;
  }

  /** Something happened to a path: it is looked at when that was the last for a while. */
  add(path: string): void {
    if (this.#isClosed || this.#ready.has(path)) return; // one that is ready has not been looked at yet
    const now = performance.now();
    const known = this.#restless.get(path);
    const since = known?.since ?? now;
    const due = now + quietMs;
    if (known && due > since + maxDelayMs) return; // put off often enough
    this.#restless.delete(path); // moves it to the end
    this.#restless.set(path, { since, due });
    this.#timer ??= setTimeout(() => this.#endRest(), quietMs).unref();
  }

  addNow(path: string): void {
    if (this.#isClosed) return;
    this.#restless.delete(path);
    this.#ready.add(path);
    this.#begin();
  }

  /** Looks at everything now, and resolves when nothing is left. */
  async settle(): Promise<void> {
    while (this.#restless.size + this.#ready.size + this.#underWay.size > 0) {
      this.#makeReady(Number.POSITIVE_INFINITY);
      this.#begin();
      await Promise.race(this.#underWay.values());
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#restless.clear();
    this.#ready.clear();
    await Promise.all(this.#underWay.values());
  }

  #endRest(): void {
    this.#timer = undefined;
    const now = performance.now();
    this.#makeReady(now);
    this.#begin();
    for (const { due } of this.#restless.values()) {
      this.#timer = setTimeout(() => this.#endRest(), Math.max(1, due - now)).unref();
      return;
    }
  }

  #makeReady(now: number): void {
    for (const [path, { due }] of this.#restless) {
      if (due > now || this.#ready.size >= maxReady) return;
      this.#restless.delete(path);
      this.#ready.add(path);
    }
  }

  #begin(): void {
    for (const path of this.#ready) {
      if (this.#underWay.size >= maxAtOnce) return;
      if (this.#underWay.has(path)) continue; // once that has ended
      this.#ready.delete(path);
      const looking = this.#look(path).finally(() => {
        this.#underWay.delete(path);
        this.#begin();
      });
      this.#underWay.set(path, looking);
    }
  }
}
