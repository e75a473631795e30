import { namesToHide } from "./disk/paths.ts";
import type { Storage } from "./storage.ts";

/** Files of the disk that no storage of a server may show, whichever of the two becomes known first. */
export class ProtectedFiles {
  /** By location: its names on the disk, if a storage has asked. Looked for once: there may be a thousand storages. */
  readonly #locations = new Map<string, readonly string[] | undefined>();
  readonly #storages = new Set<Storage>();

  /** Hides a file in every storage, also in those that come later. */
  async protect(location: string): Promise<void> {
    const isOnDisk = [...this.#storages].some(({ protect }) => protect);
    const names = isOnDisk ? await namesToHide(location) : undefined;
    this.#locations.set(location, names);
    for (const storage of this.#storages) await storage.protect?.(location, names);
  }

  /** Hides in a storage what is protected, also what will be later. */
  async cover(storage: Storage): Promise<void> {
    this.#storages.add(storage);
    for (const [location, names] of this.#locations) await storage.protect?.(location, names);
  }
}
