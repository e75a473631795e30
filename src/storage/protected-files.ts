import type { Storage } from "./storage.ts";

/** Files of the disk that no storage of a server may show, whichever of the two becomes known first. */
export class ProtectedFiles {
  readonly #locations = new Set<string>();
  readonly #storages = new Set<Storage>();

  /** Hides a file in every storage, also in those that come later. */
  async protect(location: string): Promise<void> {
    this.#locations.add(location);
    for (const storage of this.#storages) await storage.protect?.(location);
  }

  /** Hides in a storage what is protected, also what will be later. */
  async cover(storage: Storage): Promise<void> {
    this.#storages.add(storage);
    for (const location of this.#locations) await storage.protect?.(location);
  }
}
