import { hash } from "node:crypto";
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
  on(event: "ready" | "error", listener: (error: Error) => void): unknown;
  destroy(): void;
}

/**
 * Which Redis: a URL (`redis://user:password@host:6379/0`, `rediss://` for TLS), or a client of `@redis/client` whose
 * options count. The client itself is left alone.
 */
export type RedisSource = string | RedisClient;

/** A program of Redis, which runs alone and as a whole. */
export interface RedisScript {
  readonly text: string;
  readonly sha: string;
}

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

export function redisScript(text: string): RedisScript {
  return { text, sha: hash("sha1", text, "hex") };
}

/**
 * A connection that all who name the same Redis share. It is made when it is first needed, and made again when it
 * breaks, after pauses of at most two seconds. While it is broken, commands fail at once. Each command has a time
 * limit, of half a second where nothing else is said; after one that ran into it, the next fail at once until Redis
 * answers again.
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
  /** Commands whose time is over and that have no reply yet. */
  #overdue = 0;

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

  /** Sends a command and gives its reply. Throws a {@link RedisError} where none comes in time. */
  async run(command: readonly string[], limitMs: number = commandMs): Promise<unknown> {
    try {
      return await this.#send(command, limitMs);
    } catch (error) {
      throw error instanceof RedisError ? error : this.#problem(error);
    }
  }

  /** Runs a script. Its text is sent only where Redis does not know it. */
  async runScript(
    script: RedisScript,
    keys: readonly string[],
    values: readonly string[],
    limitMs: number = commandMs,
  ): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...values];
    try {
      return await this.run(["EVALSHA", script.sha, ...rest], limitMs);
    } catch (error) {
      if (!isUnknownScript((error as RedisError).cause)) throw error;
      return await this.run(["EVAL", script.text, ...rest], limitMs);
    }
  }

  /** A separate connection for commands that wait. It is not made again when it breaks. Rejects if it fails. */
  async dedicated(): Promise<RedisClient> {
    const like = await clientOf(this.#source);
    const client = like.duplicate({
      ...plain,
      socket: { ...like.options.socket, ...timeouts, reconnectStrategy: false },
    });
    client.on("error", () => {}); // the command under way tells
    await client.connect();
    return client;
  }

  async #send(command: readonly string[], limitMs: number): Promise<unknown> {
    if (this.#users === 0) throw this.#problem(undefined);
    this.#opening ??= this.#open();
    const late = new RedisError(`${this.name} has not answered for ${limitMs} ms`);
    if (!this.#client?.isReady) await inTime(this.#opening, openMs, () => Promise.reject(late));
    const client = this.#client;
    if (!client?.isReady) throw this.#problem(this.#lastError);
    if (this.#overdue > 0) throw late;
    let isOverdue = false;
    const reply = client.sendCommand(command).finally(() => {
      if (isOverdue) this.#overdue -= 1;
    });
    const giveUp = (): never => {
      isOverdue = true;
      this.#overdue += 1;
      throw late;
    };
    // A reply that came while this process did something else for long is read before the time is over.
    return inTime<unknown>(reply, limitMs, () => inTime(reply, 1, giveUp));
  }

  /** Resolves when the connection stands, or could not be made at once; then it is tried again and again. */
  async #open(): Promise<void> {
    const like = await clientOf(this.#source);
    const client = like.duplicate({
      ...plain,
      commandsQueueMaxLength: maxPending,
      pingInterval: pingMs,
      socket: {
        ...like.options.socket,
        ...timeouts,
        reconnectStrategy(attempts: number) {
          // Not all instances at the same moment.
          return Math.min(longestPauseMs, 100 * 2 ** attempts) * (0.5 + Math.random() / 2);
        },
      },
    });
    if (this.#users === 0) return; // released meanwhile
    sharedServices.add(this.#service);
    await new Promise<void>((resolve) => {
      client.on("ready", () => resolve());
      client.on("error", (error) => {
        this.#lastError = error;
        resolve();
      });
      this.#client = client;
      client.connect().catch((error: unknown) => {
        this.#lastError = error;
        resolve();
      });
    });
  }

  #problem(cause: unknown): RedisError {
    return new RedisError(`${this.name} cannot be asked: ${messageOf(cause ?? "not connected")}`, { cause });
  }
}

async function clientOf(source: RedisSource): Promise<RedisClient> {
  if (typeof source !== "string") return source;
  const { createClient } = await loadClient();
  return createClient({ url: source });
}

/** An optional dependency: not before a Redis is named, and in `try`, where bundlers do not insist on it. */
async function loadClient(): Promise<typeof import("@redis/client")> {
  try {
    return await import("@redis/client");
  } catch (error) {
    throw new Error("the package @redis/client is missing: npm install @redis/client", { cause: error });
  }
}

/** Ends a connection, also one that has ended by itself. */
export function destroy(client: RedisClient): void {
  try {
    client.destroy();
  } catch {
    // Closed already: the package throws in this case.
  }
}

/** Whether Redis has answered that it has not been sent a script yet. */
function isUnknownScript(error: unknown): boolean {
  return messageOf(error).startsWith("NOSCRIPT");
}

function nameOf(source: RedisSource): string {
  if (typeof source !== "string") return "the Redis of a given client";
  const { protocol, host, pathname } = new URL(source);
  return `${protocol}//${host}${pathname}`;
}
