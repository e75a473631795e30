import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { relative, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type HeldLock, type Locks, PathLock, type SharedLocks } from "../locks.ts";
import { StorageError } from "../storage.ts";
import { errnoOf } from "./file-record.ts";
import { foldedName } from "./listed-names.ts";

/** How long a request waits for another process, in milliseconds: one that was stopped keeps its locks. */
const maxWaitMs = 30_000;

/** How long a process leaves a lock to others after it gave it up to them, in milliseconds: time enough to wake up. */
const courtesyMs = 3;

/** Between two attempts where the holder cannot be waited for, in milliseconds. */
const retryMs = 1;

/** What is short now, and will be there again. Everything else says that this system or runtime has no such sockets. */
const exhausted: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

/** A directory that other machines change as well. */
interface SharedRoot {
  readonly root: string;
  /** Number of the file system, with which the keys of files that have several names begin. */
  readonly device: string;
  readonly lock: PathLock;
  readonly locks: SharedLocks;
}

/**
 * The locks of all disk storages, by real location: hosts and processes may share a directory. Keys are real locations,
 * and for files with several names their identities, `inode:<device>:<number>`. Names that a disk may take for one have
 * one lock: a task that holds the lock of one must not ask for that of another.
 */
class DiskLocks {
  readonly #machine: Locks = machineLocks();
  readonly #own = new PathLock(this.#machine);
  readonly #shared: SharedRoot[] = [];

  /** Locks files in a directory on other machines, too, until the function that it returns is called. */
  share(directory: string, locks: SharedLocks): () => void {
    const root = foldedName(directory);
    const known = this.#shared.find((each) => each.root === root && each.locks === locks);
    const device = `inode:${statSync(directory).dev}:`;
    // Other machines have the directory elsewhere, and number its file system otherwise.
    const nameOf = (key: string): string =>
      key.startsWith(device) ? `inode:${key.slice(device.length)}` : `/${relative(root, key)}`;
    const lock = known?.lock ?? new PathLock(bothLocks(this.#machine, locks, nameOf));
    const shared: SharedRoot = { root, device, lock, locks };
    this.#shared.push(shared);
    return () => void this.#shared.splice(this.#shared.indexOf(shared), 1);
  }

  run<T>(key: string, task: (held: HeldLock | undefined) => Promise<T>, since?: number): Promise<T> {
    const name = foldedName(key);
    return this.#lockOf(name).run(name, task, since);
  }

  tryRun<T>(key: string, task: (held: HeldLock | undefined) => Promise<T>): Promise<{ readonly value: T } | undefined> {
    const name = foldedName(key);
    return this.#lockOf(name).tryRun(name, task);
  }

  /** Whether other machines have locks there, too. */
  isShared(location: string): boolean {
    return this.#lockOf(foldedName(location)) !== this.#own;
  }

  #lockOf(key: string): PathLock {
    const covers = ({ root, device }: SharedRoot): boolean =>
      key.startsWith(device) || key === root || key.startsWith(root.endsWith(sep) ? root : root + sep);
    return this.#shared.find(covers)?.lock ?? this.#own;
  }
}

/** Locks of this machine and of several: neighbours may know only the first. `nameOf` gives the common key. */
function bothLocks(machine: Locks, shared: Locks, nameOf: (key: string) => string): Locks {
  const alsoShared = async <Got extends HeldLock | undefined>(
    here: HeldLock,
    asking: Promise<Got>,
  ): Promise<HeldLock | Got> => {
    try {
      const everywhere = await asking;
      if (everywhere) return together(here, everywhere);
      here.release();
      return everywhere;
    } catch (error) {
      here.release();
      throw error;
    }
  };
  return {
    acquire: async (key, since) => alsoShared(await machine.acquire(key, since), shared.acquire(nameOf(key), since)),
    async tryAcquire(key) {
      const here = await machine.tryAcquire(key);
      return here && alsoShared(here, shared.tryAcquire(nameOf(key)));
    },
  };
}

function together(here: HeldLock, everywhere: HeldLock): HeldLock {
  return {
    get isAwaited() {
      return everywhere.isAwaited || here.isAwaited;
    },
    isOver: () => everywhere.isOver?.() ?? false,
    release() {
      everywhere.release();
      here.release();
    },
  };
}

/**
 * Locks among all processes of a machine: who holds a key listens on a local socket of that name, in Linux's abstract
 * name space or among the named pipes of Windows. The system lets one process listen, closes the socket when that
 * process ends in whatever way, and keeps nothing on the disk. Those who wait are connected to the holder: that it is
 * done, or dead, they learn at once. Tests set both waits.
 */
export function machineLocks(
  waitMs: number = maxWaitMs,
  courtesy: () => Promise<unknown> = () => pause(courtesyMs),
): Locks {
  const leftToOthers = new Map<string, Promise<void>>();

  /** The lock, or the name on which another process listens. Without such sockets, each process is for itself. */
  const listenFor = async (key: string): Promise<HeldLock | string> => {
    const { forms } = await (known ?? usableNames());
    const hashed = hash("sha512", key, "hex"); // everybody on the machine can list the names
    const waiting = new Set<Socket>();
    const servers: Server[] = [];
    const release = (): void => {
      if (waiting.size > 0)
        leftToOthers.set(
          key,
          courtesy().then(() => void leftToOthers.delete(key)),
        );
      for (const server of servers) server.close();
      for (const socket of waiting) socket.destroy();
    };
    for (const name of forms.map((form) => form(hashed))) {
      try {
        servers.push(await listen(name, waiting));
      } catch (error) {
        release();
        if (errnoOf(error) === "EADDRINUSE") return name;
        throw error;
      }
    }
    return {
      get isAwaited() {
        return waiting.size > 0;
      },
      release,
    };
  };

  return {
    async acquire(key, since = performance.now()) {
      await leftToOthers.get(key);
      for (;;) {
        const held = await listenFor(key);
        if (typeof held !== "string") return held;
        const left = since + waitMs - performance.now();
        if (left <= 0) throw new StorageError("busy", new Error("another process holds the lock of the file"));
        await untilReleased(held, left);
      }
    },
    async tryAcquire(key) {
      const held = await listenFor(key);
      return typeof held === "string" ? undefined : held;
    },
  };
}

async function listen(name: string, waiting: Set<Socket>): Promise<Server> {
  const server = createServer();
  // In a worker of node:cluster, `exclusive` keeps the primary from sharing one socket among all workers.
  server.listen({ path: name, exclusive: true });
  if (!server.listening) await once(server, "listening");
  server.on("error", ignore); // of a connection that could not be accepted: the process that wanted it tries again
  server.on("connection", (socket) => {
    waiting.add(socket.on("error", ignore).on("close", () => waiting.delete(socket)));
  });
  return server;
}

/** The name of a socket, from the hash of a key. */
type NameForm = (hashed: string) => string;

/**
 * Node 20 fills names up to 108 bytes with zeros, so that it meets others by names of just that length; Bun takes 107
 * at most. A process listens on each of the names that its runtime takes as they are, in this order.
 */
const longName: NameForm = (hashed) => `\0filement-${hashed.slice(0, 98)}`;
const shortName: NameForm = (hashed) => `\0filement-${hashed.slice(0, 97)}`;
const pipeName: NameForm = (hashed) => `\\\\.\\pipe\\filement-${hashed}`;

interface UsableNames {
  readonly forms: readonly NameForm[];
  readonly problem?: string;
}

let known: UsableNames | undefined;

/** The names that system and runtime take here, tried once. */
async function usableNames(): Promise<UsableNames> {
  const forms: NameForm[] = [];
  let problem = `${process.platform} has no locks that end with a process`;
  for (const form of { linux: [longName, shortName], win32: [pipeName] }[process.platform as string] ?? []) {
    try {
      const name = form(randomBytes(64).toString("hex"));
      const server = await listen(name, new Set());
      if (form !== shortName || !(await isTaken(`${name}\0`))) forms.push(form);
      server.close();
    } catch (error) {
      if (exhausted.has(errnoOf(error))) throw error;
      problem = `local sockets cannot be used (${errnoOf(error) || (error as Error).name})`;
    }
  }
  known = forms.length > 0 ? { forms } : { forms, problem };
  return known;
}

async function isTaken(name: string): Promise<boolean> {
  try {
    (await listen(name, new Set())).close();
    return false;
  } catch (error) {
    return errnoOf(error) === "EADDRINUSE";
  }
}

/** Why processes that serve the same directory are not kept apart here; `undefined` where they are. */
export async function lockProblem(): Promise<string | undefined> {
  return (await usableNames()).problem;
}

async function untilReleased(name: string, ms: number): Promise<void> {
  const socket = connect({ path: name }).unref();
  const timer = setTimeout(() => socket.destroy(), ms).unref();
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

export const diskLocks: DiskLocks = new DiskLocks();
