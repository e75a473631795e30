import { setTimeout as pause } from "node:timers/promises";
import { PathLock } from "../locks.ts";
import { type CommitCheck, StorageError } from "../storage.ts";
import { type Condition, unchangedSince } from "./object-store.ts";
import { type Found, type FoundFile, maxKeptBytes, type Places } from "./places.ts";
import { isAbsent, isLostRace, isUnknownOutcome, isUploadGone } from "./store-error.ts";
import { containsWrite, type NewWrite, type StoredObject, writtenObject } from "./stored-object.ts";

/** Most times that a change is begun again because others changed the file first: with four who never rest, one in a million loses all. */
const maxTries = 48;
/** Longest pause between two tries, in milliseconds. One that is longer than a change of the others takes only loses more often. */
const maxPauseMs = 250;

/** A change that is ready to be made. */
export interface Commit {
  readonly path: string;
  /** The version that it is on top of. */
  readonly before: StoredObject | undefined;
  readonly write: NewWrite;
  readonly size: number;
  /** All of the content, where it was not sent in parts. */
  readonly bytes?: Uint8Array | undefined;
}

/** How a try to change something ended. `again`: with what is there now. */
export type Tried<Made> = { readonly made: Made } | { readonly unchanged: Made } | { readonly again: Found };

/** Makes changes without locks between machines: each is made by the store if nothing has changed since it was looked at. */
export class Changes {
  readonly places: Places;
  // Within one process waiting costs less than losing a race.
  readonly #locks = new PathLock();

  constructor(places: Places) {
    this.places = places;
  }

  /**
   * Tries a change until nobody comes in between; throws `conflict` where that happens again and again. The first try may be
   * about what was seen a moment ago: where that leads to an error, or to no change, it counts if it is true still.
   */
  run<Made>(path: string, look: () => Promise<Found>, attempt: (found: Found) => Promise<Tried<Made>>): Promise<Made> {
    return this.#locks.run(path, async () => {
      const recent = this.places.recent(path);
      let found = recent ?? (await look());
      let isFresh = recent === undefined;
      for (let tries = 1; tries <= maxTries; tries += 1) {
        let failure: { readonly error: unknown } | undefined;
        let tried: Tried<Made> | undefined;
        try {
          tried = await attempt(found);
        } catch (error) {
          if (isFresh) throw error;
          failure = { error };
        }
        if (tried && "made" in tried) return tried.made;
        if (tried && "again" in tried) {
          this.places.store.lostRace();
          await pause(Math.random() * Math.min(maxPauseMs, 5 * 2 ** tries));
          found = tried.again;
        } else {
          const now = isFresh ? found : await look();
          if (isSame(found, now)) {
            if (failure) throw failure.error;
            if (tried) return tried.unchanged;
          }
          found = now;
        }
        isFresh = true;
      }
      throw new StorageError("conflict");
    });
  }

  /**
   * Stores an object of that size, and content where it is at hand, in place of what was found. `store` makes the request;
   * where its answer was lost, the store is asked whether the write has been made.
   */
  async commit(
    { path, before, write, size, bytes }: Commit,
    store: (condition: Condition) => Promise<StoredObject>,
  ): Promise<{ readonly made: StoredObject } | { readonly again: Found }> {
    try {
      const made = await store(unchangedSince(before));
      const isKept = bytes !== undefined && bytes.byteLength <= maxKeptBytes;
      this.places.saw(path, { kind: "file", object: made, wasRead: true, ...(isKept && { bytes }) });
      return { made };
    } catch (error) {
      // Absent: the object that was to be replaced has gone.
      const isRefused = isLostRace(error) || isAbsent(error) || isUploadGone(error);
      if (!isRefused && !isUnknownOutcome(error)) throw error;
      if (isRefused) this.places.lost(path);
      const found = await this.places.look(path).catch((failure: unknown) => {
        throw isRefused ? failure : error;
      });
      // What is there now may be the next write already: its tag is not ours, and its content is not what we have at hand.
      if (found.kind === "file" && containsWrite(found.object, write)) {
        const isLast = found.object.writes[0] === write.writes[0];
        return { made: writtenObject(write, isLast ? found.object.etag : "", size) };
      }
      if (!isRefused) throw error;
      if (isUploadGone(error)) throw new StorageError("conflict", error);
      return { again: found };
    }
  }
}

/** What a change of a file is on top of. Throws where it cannot be made. */
export function fileAt(found: Found): FoundFile | undefined {
  if (found.kind === "directory") throw new StorageError("is-directory");
  return found.kind === "file" ? found : undefined;
}

/** Calls a check with the version that is to be replaced. */
export function judge(check: CommitCheck | undefined, found: FoundFile | undefined): void {
  check?.(found?.object.stat);
}

function isSame(a: Found, b: Found): boolean {
  if (a.kind === "file" && b.kind === "file") return a.object.stat.version === b.object.stat.version;
  return a.kind === b.kind;
}
