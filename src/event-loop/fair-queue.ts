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
  readonly client: Client;
  readonly weight: number;
  begin(): void;
  refuse(reason: unknown): void;
}

/**
 * Lets a few costly tasks run at once; the others wait. Addresses take turns, at one address accounts do, and known
 * clients take turns with all others: the client that sends the most waits the longest. When too much waits, the newest
 * task of the address with the most is refused.
 */
export class FairQueue {
  readonly #concurrency: number;
  readonly #refusal: () => Error;
  readonly #known: Line;
  readonly #others: Line;
  #isKnownNext = true;
  #running = 0;

  constructor(options: FairQueueOptions = {}) {
    const { concurrency = 1, maxWaiting = Number.POSITIVE_INFINITY } = options;
    const { refusal = () => new Error("too many tasks wait") } = options;
    this.#concurrency = concurrency;
    this.#refusal = refusal;
    this.#known = new Line(maxWaiting);
    this.#others = new Line(maxWaiting);
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
      this.#passOn();
    }
  }

  #turn(client: Client, weight: number, signal: AbortSignal | undefined): Promise<void> {
    const line = client.isKnown ? this.#known : this.#others;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        line.remove(waiting);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        client,
        weight,
        begin: () => {
          signal?.removeEventListener("abort", leave);
          // Some tasks hold the event loop; it must turn after each.
          setImmediate(resolve);
        },
        refuse: (reason) => {
          signal?.removeEventListener("abort", leave);
          reject(reason);
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      for (const refused of line.add(waiting)) refused.refuse(this.#refusal());
    });
  }

  // The place goes straight to the next in line: a newcomer must not slip in between.
  #passOn(): void {
    const lines = this.#isKnownNext ? [this.#known, this.#others] : [this.#others, this.#known];
    this.#isKnownNext = !this.#isKnownNext;
    const next = lines[0]?.take() ?? lines[1]?.take();
    if (next) next.begin();
    else this.#running -= 1;
  }
}

/** Waiting tasks by address and account. The first of each map is next; after its turn it goes to the end. */
class Line {
  readonly #max: number;
  readonly #addresses = new Map<string, Map<string, Waiting[]>>();
  #weight = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Adds a task; gives those that are too much now. */
  add(waiting: Waiting): readonly Waiting[] {
    const { address, account = "" } = waiting.client;
    const accounts = this.#addresses.get(address) ?? new Map<string, Waiting[]>();
    this.#addresses.set(address, accounts);
    const tasks = accounts.get(account) ?? [];
    accounts.set(account, tasks);
    tasks.push(waiting);
    this.#weight += waiting.weight;
    const refused: Waiting[] = [];
    while (this.#weight > this.#max) {
      const most = heaviest(this.#addresses.values(), (each) => weightOf([...each.values()].flat()));
      const newest = heaviest(most?.values() ?? [], weightOf)?.at(-1);
      if (!newest) break;
      this.remove(newest);
      refused.push(newest);
    }
    return refused;
  }

  take(): Waiting | undefined {
    const [next] = this.#addresses;
    if (!next) return undefined;
    const [address, accounts] = next;
    const [[account, tasks] = ["", []]] = accounts;
    const [task] = tasks;
    this.#addresses.delete(address);
    this.#addresses.set(address, accounts);
    accounts.delete(account);
    accounts.set(account, tasks);
    if (task) this.remove(task);
    return task;
  }

  remove(waiting: Waiting): void {
    const { address, account = "" } = waiting.client;
    const accounts = this.#addresses.get(address);
    const tasks = accounts?.get(account);
    const index = tasks?.indexOf(waiting) ?? -1;
    if (!accounts || !tasks || index === -1) return;
    tasks.splice(index, 1);
    this.#weight -= waiting.weight;
    if (tasks.length === 0) accounts.delete(account);
    if (accounts.size === 0) this.#addresses.delete(address);
  }
}

/** The last of those that weigh most: among equals, the newcomer. */
function heaviest<T>(groups: Iterable<T>, weigh: (group: T) => number): T | undefined {
  let found: T | undefined;
  let most = 0;
  for (const group of groups) {
    const weight = weigh(group);
    if (weight < most) continue;
    most = weight;
    found = group;
  }
  return found;
}

function weightOf(tasks: readonly Waiting[]): number {
  return tasks.reduce((sum, { weight }) => sum + weight, 0);
}
