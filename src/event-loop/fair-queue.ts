/** The client for which a task is done. */
export interface Client {
  /** Shares the queue equally with other addresses. */
  readonly address: string;
  /** Shares what its address gets with other accounts there: behind one address may be a whole company. @default "" */
  readonly account?: string;
  /** Proved before who they are: has a place that strangers cannot take. @default false */
  readonly isKnown?: boolean;
}

/** Options of {@link FairQueue}. */
export interface FairQueueOptions {
  /** How many tasks run at once. @default 1 */
  readonly concurrency?: number;
  /** The most that may wait: tasks, or their weights together; of known clients, as much again. @default no limit */
  readonly maxWaiting?: number;
  /** The error for a client whose task would be too much. */
  readonly refusal?: () => Error;
}

/** What a task needs besides its client. */
export interface TaskOptions {
  /** How much of `maxWaiting` it takes. @default 1 */
  readonly weight?: number;
  /** Takes the task out of the queue; one that has begun runs to its end. */
  readonly signal?: AbortSignal | undefined;
}

interface Waiting {
  /** The groups that it is in, from the outermost: known clients or others, their address, the account there. */
  readonly groups: readonly string[];
  readonly weight: number;
  begin(): void;
  refuse(): void;
}

/**
 * Lets a few costly tasks run at once; the others wait. Addresses take turns, at one address accounts do, and known
 * clients take turns with all others: the client that sends the most waits the longest. When too much waits, the newest
 * task of the address with the most is refused.
 */
export class FairQueue {
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  readonly #refusal: () => Error;
  readonly #waiting = new Group();
  #running = 0;

  constructor(options: FairQueueOptions = {}) {
    const { concurrency = 1, maxWaiting = Number.POSITIVE_INFINITY } = options;
    const { refusal = () => new Error("too many tasks wait") } = options;
    this.#concurrency = concurrency;
    this.#maxWaiting = maxWaiting;
    this.#refusal = refusal;
  }

  /** Runs `task` when it is its turn and gives its result. Throws the refusal, or the reason of an aborted signal. */
  async run<T>(client: Client, task: () => Promise<T> | T, options: TaskOptions = {}): Promise<T> {
    const { weight = 1, signal } = options;
    signal?.throwIfAborted();
    if (this.#running < this.#concurrency) this.#running += 1;
    else await this.#turn(client, weight, signal);
    try {
      return await task();
    } finally {
      // The place goes straight to the next in line: a newcomer must not slip in between.
      const next = this.#waiting.take();
      if (next) next.begin();
      else this.#running -= 1;
    }
  }

  #turn({ address, account = "", isKnown = false }: Client, weight: number, signal?: AbortSignal): Promise<void> {
    const groups = [isKnown ? "known" : "others", address, account];
    return new Promise((resolve, reject) => {
      // Some tasks hold the event loop; it must turn after each.
      const begin = (): void => void setImmediate(resolve);
      const waiting = { groups, weight, begin, refuse: () => reject(this.#refusal()) };
      const leave = (): void => {
        if (this.#waiting.remove(waiting)) reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      const line = this.#waiting.add(waiting);
      while (line.weight > this.#maxWaiting) {
        const newest = line.newestOfHeaviest();
        if (!newest || !this.#waiting.remove(newest)) break;
        newest.refuse();
      }
    });
  }
}

/** Waiting tasks, in groups of groups. The first group is next; after its turn it goes to the end. */
class Group {
  weight = 0;
  readonly #groups = new Map<string, Group>();
  readonly #tasks: Waiting[] = [];

  /** Adds a task; gives its outermost group. */
  add(waiting: Waiting, depth = 0): Group {
    this.weight += waiting.weight;
    const name = waiting.groups[depth];
    if (name === undefined) {
      this.#tasks.push(waiting);
      return this;
    }
    const group = this.#groups.get(name) ?? new Group();
    this.#groups.set(name, group);
    group.add(waiting, depth + 1);
    return group;
  }

  take(): Waiting | undefined {
    const [first] = this.#groups;
    const task = first ? first[1].take() : this.#tasks.shift();
    this.weight -= task?.weight ?? 0;
    if (!first) return task;
    const [name, group] = first;
    this.#groups.delete(name);
    if (!group.isEmpty) this.#groups.set(name, group);
    return task;
  }

  /** Whether the task was there. */
  remove(waiting: Waiting, depth = 0): boolean {
    const name = waiting.groups[depth];
    const group = name === undefined ? undefined : this.#groups.get(name);
    const index = this.#tasks.indexOf(waiting);
    if (group ? !group.remove(waiting, depth + 1) : index === -1) return false;
    if (!group) this.#tasks.splice(index, 1);
    else if (name !== undefined && group.isEmpty) this.#groups.delete(name);
    this.weight -= waiting.weight;
    return true;
  }

  /** Among groups of the same weight, the newcomer. */
  newestOfHeaviest(): Waiting | undefined {
    const [first, ...others] = this.#groups.values();
    const heaviest = others.reduce((most, each) => (each.weight >= (most?.weight ?? 0) ? each : most), first);
    return heaviest ? heaviest.newestOfHeaviest() : this.#tasks.at(-1);
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0 && this.#tasks.length === 0;
  }
}
