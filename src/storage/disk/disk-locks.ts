import { statSync } from "node:fs";
import { relative, sep } from "node:path";
import { type HeldLock, type Locks, PathLock, type SharedLocks } from "../locks.ts";
import { machineLocks } from "./machine-locks.ts";

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

/** The locks of this process. */
export const diskLocks: DiskLocks = new DiskLocks();
