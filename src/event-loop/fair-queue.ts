export interface Client {
  /** Shares the queue equally with other addresses. */
  readonly address: string;
  /** Shares what its address gets with other accounts there: behind one address may be a whole company. @default "" */
  readonly account?: string;
  /** Proved before who they are: has a place that strangers cannot take. @default false */
  readonly isKnown?: boolean;
}

export interface FairQueueOptions {
  /** How many tasks run at once. @default 1 */
  readonly concurrency?: number;
  /** The most that may wait: tasks, or their weights together; of known clients, as much again. @default no limit */
  readonly maxWaiting?: number;
  /** The error for a client whose task would be too much. */
  readonly refusal?: () => Error;
}

interface Waiting {
  /** The groups that it is in, from the outermost: known clients or others, their address, the account there. */
  readonly groups: readonly string[];
  readonly weight: number;
  begin(): void;
  refuse(): void;
}

/** Runs a task, which takes `weight` of `maxWaiting`, when it is its turn and gives its result. Throws the refusal. */
export type RunInTurn = <T>(client: Client, task: () => Promise<T> | T, weight?: number) => Promise<T>;

/**
 * Lets a few costly tasks run at once; the others wait. Addresses take turns, at one address accounts do, and known
 * clients take turns with all others: the client that sends the most waits the longest. When too much waits, the newest
 * task of the address with the most is refused.
 */
export function fairQueue(options: FairQueueOptions = {}): RunInTurn {
  const { concurrency = 1, maxWaiting = Number.POSITIVE_INFINITY } = options;
  const { refusal = () => new Error("too many tasks wait") } = options;
  const waiting = new Group();
  let running = 0;

  function turn({ address, account = "", isKnown = false }: Client, weight: number): Promise<void> {
    const groups = [isKnown ? "known" : "others", address, account];
    return new Promise((resolve, reject) => {
      // Some tasks hold the event loop; it must turn after each.
      const begin = (): void => void setImmediate(resolve);
      const line = waiting.add({ groups, weight, begin, refuse: () => reject(refusal()) });
      while (line.weight > maxWaiting) {
        const newest = line.newestOfHeaviest();
        if (!newest) break;
        waiting.remove(newest);
        newest.refuse();
      }
    });
  }

  return async (client, task, weight = 1) => {
    if (running < concurrency) running += 1;
    else await turn(client, weight);
    try {
      return await task();
    } finally {
      // The place goes straight to the next in line: a newcomer must not slip in between.
      const next = waiting.take();
      if (next) next.begin();
      else running -= 1;
    }
  };
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

  remove(waiting: Waiting, depth = 0): void {
    this.weight -= waiting.weight;
    const name = waiting.groups[depth] ?? "";
    const group = this.#groups.get(name);
    group?.remove(waiting, depth + 1);
    if (!group) this.#tasks.splice(this.#tasks.indexOf(waiting), 1);
    else if (group.isEmpty) this.#groups.delete(name);
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
