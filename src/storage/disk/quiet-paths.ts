/** How long a path must be quiet before it is looked at, and how long that is put off at most, in milliseconds. */
const quietMs = 100;
const maxDelayMs = 1000;

/** How often paths are found to be at rest, in milliseconds. */
const tickMs = 25;

/** How many paths are looked at together: enough to keep the thread pool busy, few enough to leave others room. */
const maxAtOnce = 16;

/**
 * Paths to which something happens, each looked at once it has come to rest: an editor that empties a file and then
 * writes it in pieces makes one change, not five. No path is looked at twice at the same time.
 */
export class QuietPaths {
  readonly #look: (path: string) => Promise<void>;
  readonly #restless = new Map<string, { readonly since: number; readonly last: number }>();
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
    const last = performance.now();
    this.#restless.set(path, { since: this.#restless.get(path)?.since ?? last, last });
    this.#timer ??= setTimeout(() => this.#tick(), tickMs).unref();
  }

  addNow(path: string): void {
    if (this.#isClosed) return;
    this.#restless.delete(path);
    this.#ready.add(path);
    this.#begin();
  }

  /** Resolves when nothing is left that was to be looked at now. */
  async settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.race(this.#underWay.values());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#restless.clear();
    this.#ready.clear();
    await Promise.all(this.#underWay.values());
  }

  #tick(): void {
    const now = performance.now();
    for (const [path, { since, last }] of this.#restless) {
      if (now < Math.min(last + quietMs, since + maxDelayMs)) continue;
      this.#restless.delete(path);
      this.#ready.add(path);
    }
    this.#timer = this.#restless.size > 0 ? setTimeout(() => this.#tick(), tickMs).unref() : undefined;
    this.#begin();
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
