import { hash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { HeldLock, Locks } from "../locks.ts";
import { StorageError } from "../storage.ts";
import { errnoOf } from "./file-record.ts";

/** What a request waits for another process at most, in milliseconds: one that was stopped holds its locks all the same. */
const maxWaitMs = 30_000;

/** How long a process leaves a lock to others after it gave it up to them, in milliseconds: time enough to wake up. */
const courtesyMs = 3;

/** Between two attempts where nobody could be waited for, in milliseconds. */
const retryMs = 1;

/** What is short now, and will be there again. Everything else but "in use" says that there are no such sockets here. */
const exhausted: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

/** Where a system has no such sockets, or does not let us have them: each process is for itself. */
const nobodyElse: HeldLock = { isAwaited: false, release() {} };

/**
 * Locks among all processes of a machine: who holds a key listens on a Unix socket of that name in Linux's abstract name
 * space. The system lets one process listen, closes the socket when that process ends in whatever way, and keeps nothing
 * on the disk. Those who wait are connected to the holder: that it is done, or dead, they learn at once.
 */
class MachineLocks implements Locks {
  /** Names that were given up to other processes a moment ago. */
  readonly #leftToOthers = new Map<string, Promise<void>>();
  readonly #maxWaitMs: number;
  readonly #courtesy: () => Promise<unknown>;

  constructor(maxWaitMs: number, courtesy: () => Promise<unknown>) {
    this.#maxWaitMs = maxWaitMs;
    this.#courtesy = courtesy;
  }

  async acquire(key: string, since: number = performance.now()): Promise<HeldLock> {
    const name = socketName(key);
    await this.#leftToOthers.get(name);
    const deadline = since + this.#maxWaitMs;
    for (;;) {
      const held = await this.#listen(name);
      if (held) return held;
      const left = deadline - performance.now();
      if (left <= 0) throw new StorageError("busy", new Error("another process holds the lock of the file"));
      await untilReleased(name, left);
    }
  }

  tryAcquire(key: string): Promise<HeldLock | undefined> {
    return this.#listen(socketName(key));
  }

  /** `undefined` where another process listens. */
  async #listen(name: string): Promise<HeldLock | undefined> {
    const server = createServer();
    // In a worker of node:cluster, `exclusive` keeps the primary from sharing one socket among all workers.
    server.listen({ path: name, exclusive: true });
    if (server.listening) return this.#held(name, server);
    const [error] = await once(server, "error");
    if (errnoOf(error) === "EADDRINUSE") return undefined;
    if (exhausted.has(errnoOf(error))) throw error;
    return nobodyElse;
  }

  #held(name: string, server: Server): HeldLock {
    const waiting = new Set<Socket>();
    server.on("error", ignore); // of a connection that could not be accepted: the process that wanted it tries again
    server.on("connection", (socket) => {
      waiting.add(socket.on("error", ignore).on("close", () => waiting.delete(socket)));
    });
    return {
      get isAwaited() {
        return waiting.size > 0;
      },
      release: () => {
        server.close();
        if (waiting.size === 0) return;
        for (const socket of waiting) socket.destroy();
        const over = this.#courtesy().then(() => void this.#leftToOthers.delete(name));
        this.#leftToOthers.set(name, over);
      },
    };
  }
}

/** Locks of this machine; tests set both waits. None where the system has no abstract sockets. */
export function machineLocks(
  waitMs: number = maxWaitMs,
  courtesy: () => Promise<unknown> = () => pause(courtesyMs),
): Locks | undefined {
  return process.platform === "linux" ? new MachineLocks(waitMs, courtesy) : undefined;
}

/**
 * Of the greatest length there is: Node 20 fills shorter names up with zeros and later ones do not, so that processes of
 * different versions would not meet. Hashed: everybody on the machine can list the names.
 */
function socketName(key: string): string {
  return `\0filement-${hash("sha512", key, "hex").slice(0, 98)}`;
}

/** Waits until the holder closes, or that time is over. */
async function untilReleased(name: string, ms: number): Promise<void> {
  const socket = connect({ path: name });
  const timer = setTimeout(() => socket.destroy(), ms);
  let wasHeld = false;
  socket.on("connect", () => {
    wasHeld = true;
  });
  await new Promise<void>((resolve) =>
    socket
      .on("error", ignore)
      .on("close", () => resolve())
      .resume(),
  );
  clearTimeout(timer);
  if (!wasHeld) await pause(retryMs); // released just now, or not yet listening
}

/** What follows says it, too. */
function ignore(): void {}
