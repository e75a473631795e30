import { hash } from "node:crypto";
import { once } from "node:events";
import { statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { relative, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type HeldLock, type Locks, PathLock, type SharedLocks } from "../locks.ts";
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

/** A directory that other machines change as well. */
interface SharedRoot {
  readonly root: string;
  /** Number of the file system, with which the keys of files that have several names begin. */
  readonly device: string;
  readonly lock: PathLock;
  readonly locks: SharedLocks;
}

/**
 * The locks of all disk storages, by real location: hosts and processes may share a directory. Keys are real locations, and for
 * files with several names their identities, `inode:<device>:<number>`.
 */
class DiskLocks {
  readonly #machine: Locks | undefined = machineLocks();
  readonly #own = new PathLock(this.#machine);
  readonly #shared: SharedRoot[] = [];

  /** Locks files in a directory on other machines, too, until the function that it returns is called. */
  share(root: string, locks: SharedLocks): () => void {
    const known = this.#shared.find((each) => each.root === root && each.locks === locks);
    const device = `inode:${statSync(root).dev}:`;
    // Other machines have the directory elsewhere, and number its file system otherwise.
    const nameOf = (key: string): string =>
      key.startsWith(device) ? `inode:${key.slice(device.length)}` : `/${relative(root, key)}`;
    const lock = known?.lock ?? new PathLock(new BothLocks(this.#machine, locks, nameOf));
    const shared: SharedRoot = { root, device, lock, locks };
    this.#shared.push(shared);
    return () => void this.#shared.splice(this.#shared.indexOf(shared), 1);
  }

  /** See {@link PathLock.run}. */
  run<T>(key: string, task: (held: HeldLock | undefined) => Promise<T>): Promise<T> {
    return this.#lockOf(key).run(key, task);
  }

  /** See {@link PathLock.tryRun}. */
  tryRun<T>(key: string, task: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    return this.#lockOf(key).tryRun(key, task);
  }

  #lockOf(key: string): PathLock {
    const covers = ({ root, device }: SharedRoot): boolean =>
      key.startsWith(device) || key === root || key.startsWith(root.endsWith(sep) ? root : root + sep);
    return this.#shared.find(covers)?.lock ?? this.#own;
  }
}

/** Locks of this machine and of several at once: processes beside this one may know only the first. */
class BothLocks implements Locks {
  readonly #machine: Locks | undefined;
  readonly #shared: Locks;
  readonly #nameOf: (key: string) => string;

  /** `nameOf` gives the key that all machines have in common. */
  constructor(machine: Locks | undefined, shared: Locks, nameOf: (key: string) => string) {
    this.#machine = machine;
    this.#shared = shared;
    this.#nameOf = nameOf;
  }

  async acquire(key: string, since?: number): Promise<HeldLock> {
    const here = await this.#machine?.acquire(key, since);
    try {
      return together(here, await this.#shared.acquire(this.#nameOf(key), since));
    } catch (error) {
      here?.release();
      throw error;
    }
  }

  async tryAcquire(key: string): Promise<HeldLock | undefined> {
    const here = await this.#machine?.tryAcquire(key);
    if (this.#machine && !here) return undefined;
    const everywhere = await this.#shared.tryAcquire(this.#nameOf(key)).catch((error: unknown) => {
      here?.release();
      throw error;
    });
    if (everywhere) return together(here, everywhere);
    here?.release();
    return undefined;
  }
}

function together(here: HeldLock | undefined, everywhere: HeldLock): HeldLock {
  return {
    get isAwaited() {
      return everywhere.isAwaited || here?.isAwaited === true;
    },
    isOver: () => everywhere.isOver?.() ?? false,
    release() {
      everywhere.release();
      here?.release();
    },
  };
}

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

/** The locks of this process. */
export const diskLocks: DiskLocks = new DiskLocks();
