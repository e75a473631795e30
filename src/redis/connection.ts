import { inTime } from "../event-loop/in-time.ts";
import { messageOf } from "../server/logger.ts";
import { type SharedService, sharedServices } from "../server/shared-services.ts";

/** A client of `@redis/client`, as far as it is used here. */
export interface RedisClient {
  readonly isReady: boolean;
  readonly options: { readonly socket?: object | undefined };
  /** Makes a client with the same options and these others. */
  duplicate(options?: object): RedisClient;
  connect(): Promise<unknown>;
  sendCommand(command: readonly string[]): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
  destroy(): void;
}

/**
 * Which Redis: a URL (`redis://user:password@host:6379/0`, `rediss://` for TLS), or a client of `@redis/client` whose
 * options count. The client itself is left alone.
 */
export type RedisSource = string | RedisClient;

/** Longest pause between two attempts to connect, in milliseconds; the first is a tenth of a second. */
const longestPauseMs = 2_000;
/** How long a command may take, in milliseconds. In one network it takes less than one. */
const commandMs = 500;
/** How long the first connection may take, with the code that it needs, in milliseconds. */
const openMs = 5_000;
/** A connection that has been silent for this long is dead: it is asked often enough. */
const silenceMs = 5_000;
const pingMs = 2_000;
/** Commands that may wait for their replies; more fail at once. */
const maxPending = 10_000;

/** Options of both kinds of connection: replies look as Redis 6 has them, and a command that cannot be sent fails. */
const plain = { RESP: 2, maintNotifications: "disabled", disableOfflineQueue: true, disableClientInfo: true } as const;
const timeouts = { connectTimeout: silenceMs, socketTimeout: silenceMs } as const;

/** Redis does not answer, or not in time. */
export class RedisError extends Error {
  override readonly name = "RedisError";
}

/**
 * A connection that all who name the same Redis share. It is made when it is first needed, and made again when it
 * breaks, after pauses of at most two seconds. While it is broken, commands fail at once. Each command has a time
 * limit, of half a second where nothing else is said.
 */
export class RedisConnection {
  static readonly #shared = new Map<RedisSource, RedisConnection>();
  /** The Redis in messages, without its password. */
  readonly name: string;
  readonly #service: SharedService = { name: "redis", check: () => this.reach() };
  readonly #source: RedisSource;
  #users = 0;
  #client: RedisClient | undefined;
  #opening: Promise<void> | undefined;
  #lastError: unknown;
  #openedAnewAt = Number.NEGATIVE_INFINITY;

  private constructor(source: RedisSource) {
    this.#source = source;
    this.name = nameOf(source);
  }

  /** The connection to a Redis; to be used between {@link hold} and {@link release}. */
  static to(source: RedisSource): RedisConnection {
    return RedisConnection.#shared.get(source) ?? new RedisConnection(source);
  }

  hold(): RedisConnection {
    RedisConnection.#shared.set(this.#source, this);
    this.#users += 1;
    return this;
  }

  release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    if (RedisConnection.#shared.get(this.#source) === this) RedisConnection.#shared.delete(this.#source);
    sharedServices.delete(this.#service);
    if (this.#client) destroy(this.#client);
    this.#client = undefined;
    this.#opening = undefined;
  }

  /** Resolves when commands are answered; rejects with a {@link RedisError} where they are not. */
  async reach(): Promise<void> {
    await this.run(["PING"], 10 * commandMs);
  }

  /** Sends a command and gives its reply. Throws a {@link RedisError} if the reply does not come in time. */
  async run(command: readonly string[], limitMs: number = commandMs): Promise<unknown> {
    const late = (): never => {
      throw new RedisError(`${this.name} has not answered for ${limitMs} ms`);
    };
    try {
      if (this.#users === 0) throw new Error("not connected");
      this.#opening ??= this.#open();
      if (!this.#client?.isReady) await inTime(this.#opening, openMs, late);
      if (!this.#client?.isReady) throw this.#lastError;
      const reply = this.#client.sendCommand(command);
      // A reply that came while this process did something else for long is read before the time is over.
      return await inTime<unknown>(reply, limitMs, () => inTime(reply, 1, late));
    } catch (cause) {
      if (cause instanceof RedisError) throw cause;
      if (/\bREADONLY\b/.test(messageOf(cause))) this.#openAnew();
      throw new RedisError(`${this.name} cannot be asked: ${messageOf(cause ?? "not connected")}`, { cause });
    }
  }

  runScript(
    script: string,
    keys: readonly string[],
    values: readonly string[],
    limitMs: number = commandMs,
  ): Promise<unknown> {
    return this.run(["EVAL", script, String(keys.length), ...keys, ...values], limitMs);
  }

  /** A separate connection for commands that wait. It is not made again when it breaks. Rejects if it fails. */
  async dedicated(): Promise<RedisClient> {
    const client = await this.#newClient({}, { reconnectStrategy: false });
    client.on("error", () => {}); // the command under way tells
    await client.connect();
    return client;
  }

  /** After a failover the old Redis may stay, as a replica of the one to which the address leads now. */
  #openAnew(): void {
    if (!this.#client || performance.now() - this.#openedAnewAt < longestPauseMs) return;
    this.#openedAnewAt = performance.now();
    destroy(this.#client);
    this.#client = undefined;
    this.#opening = undefined;
  }

  /** Resolves when the connection stands, or could not be made at once; then it is tried again and again. */
  async #open(): Promise<void> {
    const limits = { commandsQueueMaxLength: maxPending, pingInterval: pingMs };
    const client = await this.#newClient(limits, {
      reconnectStrategy(attempts: number) {
        // Not all instances at the same moment.
        return Math.min(longestPauseMs, 100 * 2 ** attempts) * (0.5 + Math.random() / 2);
      },
    });
    if (this.#users === 0) return; // released meanwhile
    sharedServices.add(this.#service);
    this.#client = client;
    await new Promise<void>((resolve) => {
      const failed = (error: unknown): void => {
        this.#lastError = error;
        resolve();
      };
      client.on("error", failed);
      client.connect().then(() => resolve(), failed);
    });
  }

  async #newClient(options: object, socket: object): Promise<RedisClient> {
    const source = this.#source;
    const like: RedisClient = typeof source === "string" ? (await loadClient()).createClient({ url: source }) : source;
    return like.duplicate({ ...plain, ...options, socket: { ...like.options.socket, ...timeouts, ...socket } });
  }
}

/** An optional dependency: not before a Redis is named, and in `try`, where bundlers do not insist on it. */
async function loadClient(): Promise<typeof import("@redis/client")> {
  try {
    return await import("@redis/client");
  } catch (error) {
    throw new Error("the package @redis/client is missing: npm install @redis/client", { cause: error });
  }
}

export function destroy(client: RedisClient): void {
  try {
    client.destroy();
  } catch {
    // Closed already: the package throws in this case.
  }
}

function nameOf(source: RedisSource): string {
  if (typeof source !== "string") return "the Redis of a given client";
  const { protocol, host, pathname } = new URL(source);
  return `${protocol}//${host}${pathname}`;
}
