import { setTimeout as pause } from "node:timers/promises";
import { PathLock } from "../locks.ts";
import { type CommitCheck, StorageError } from "../storage.ts";
import type { Condition, ObjectStore } from "./object-store.ts";
import { type Found, maxKeptBytes, objectAt, type Places, parentOf, slashed, unslashed } from "./places.ts";
import { isAbsent, isLostRace, isOutage, isUploadGone, toldOf } from "./store-error.ts";
import { isKnownSince, newMark, newWrite, type StoredObject, tombstone } from "./stored-object.ts";

/** Most times that a change is begun again after losing a race to another server. */
const maxTries = 64;
/** Longest pause between two tries, in milliseconds: longer than a busy store takes for the change of a rival. */
const maxPauseMs = 500;
/** How often a write whose answer was lost is looked for, and the longest pauses between, in milliseconds. */
const maxLooks = 4;
const lookPauseMs = 1_000;

/** How a change was refused: it came too late; an attempt after the first did, which may have been made; or unknown. */
type Refusal = "refused" | "refused-later" | "failed";

interface Sending<Made> {
  send(store: ObjectStore): Promise<Made>;
  /** What has become of one that was not acknowledged, as far as what is there now tells. */
  outcome(now: Found, said: Refusal): { readonly made: Made } | "not-made" | "unknown";
}

/** How a try to change something goes on; `"again"`: with what is there now. */
export type Tried<Made> = Sending<Made> | { readonly unchanged: Made } | "again";

/** Changes without locks between machines: the store makes each if nothing has changed since it was looked at. */
export class Changes {
  readonly places: Places;
  // Within one process waiting costs less than losing a race.
  readonly #locks = new PathLock();

  constructor(places: Places) {
    this.places = places;
  }

  /**
   * Tries a change until no other comes in between; throws `conflict` where that happens again and again. The first try
   * may be about what was seen a moment ago, which is good for a change, but not to report an error or a missing file.
   */
  run<Made>(
    path: string,
    attempt: (found: Found, mark: string) => Promise<Tried<Made>>,
    mark: string = newMark(),
    look: (store: ObjectStore) => Promise<Found> = (store) => this.places.look(path, store),
  ): Promise<Made> {
    const { store } = this.places;
    return this.#locks.run(unslashed(path), async () => {
      const recent = this.places.recent(path);
      let found = recent;
      for (let tries = 1; tries <= maxTries; tries += 1) {
        const current = found ?? (await look(store.timed()));
        const isRecent = current === recent;
        found = undefined;
        const tried = await attempt(current, mark).catch((error: unknown) => {
          if (!isRecent) throw error;
        });
        if (tried === undefined) continue;
        if (tried !== "again" && "unchanged" in tried) {
          if (!isRecent) return tried.unchanged;
          continue;
        }
        if (tried !== "again") {
          const sent = await send(tried, look, store.timed());
          if ("made" in sent) return sent.made;
          found = sent.again;
        }
        await pause(Math.random() * Math.min(maxPauseMs, 5 * 2 ** tries));
      }
      throw new StorageError("conflict");
    });
  }

  /** A request that stores an object in place of `before`; `made` says what that is to its maker. */
  commit<Made>(
    what: { path: string; mark: string; before: StoredObject | undefined; bytes?: Uint8Array | undefined },
    put: (condition: Condition, store: ObjectStore) => Promise<StoredObject>,
    made: (stored: StoredObject) => Made,
  ): Sending<Made> {
    const { path, mark, before, bytes } = what;
    return {
      send: async (store) => {
        const object = await put(before ? { IfMatch: before.etag } : { IfNoneMatch: "*" }, store);
        const isKept = bytes !== undefined && bytes.byteLength <= maxKeptBytes;
        const file = { kind: "file", object, wasRead: true, ...(isKept && { bytes }) } as const;
        this.places.saw(path, object.isTombstone ? { kind: "nothing", tombstone: object } : file);
        return made(object);
      },
      outcome(now, said) {
        const object = objectAt(now);
        // It may have been made, and removed by another.
        if (!object) return before || said === "refused-later" ? "unknown" : "not-made";
        if (!object.writes.includes(mark)) return isKnownSince(before, object) ? "not-made" : "unknown";
        // The tag of one that others have changed since is theirs, and matches nothing of ours.
        const overtaken = { ...object, stat: { ...object.stat, version: `overtaken-${mark}` } };
        return { made: made(object.writes[0] === mark ? object : overtaken) };
      },
    };
  }

  async remove(
    path: string,
    check: CommitCheck | undefined,
    deletesOnCondition: () => Promise<boolean>,
  ): Promise<void> {
    if (path === "/") throw new StorageError("forbidden");
    const { places } = this;
    await this.run(path, async (found, mark): Promise<Tried<void>> => {
      if (found.kind === "nothing") throw new StorageError("not-found");
      const isFull = found.kind === "directory" && (await places.firstBelow(path, false)) !== undefined;
      if (isFull) throw new StorageError("not-empty");
      check?.(found.kind === "file" ? found.object.stat : found.stat);
      if (found.kind === "directory") return removal(places, path, undefined);
      if (await deletesOnCondition()) return removal(places, path, found.object);
      // What comes between a look and a DELETE would be lost. A tombstone stays: others may write in its place.
      const write = { ...newWrite(mark, found.object), isTombstone: true, properties: {} };
      const bury = async (condition: Condition, store: ObjectStore): Promise<StoredObject> => {
        await places.makeMarker(parentOf(path), store); // it outlives what is in it
        return store.put(places.keyOf(path), tombstone, write, condition);
      };
      return this.commit({ path, mark, before: found.object }, bury, () => undefined);
    });
  }
}

/** Makes a request that changes something. If the store refuses it, or says nothing, looks what became of it. */
async function send<Made>(
  sending: Sending<Made>,
  look: (store: ObjectStore) => Promise<Found>,
  store: ObjectStore,
): Promise<{ readonly made: Made } | { readonly again: Found }> {
  try {
    return { made: await sending.send(store) };
  } catch (error) {
    // Absent: the object that was to be replaced has gone.
    const isRefused = isLostRace(error) || isAbsent(error) || isUploadGone(error);
    const { httpStatusCode, attempts = 1 } = toldOf(error).$metadata ?? {};
    const isFirst = attempts === 1;
    if (!isRefused && !isOutage(error) && isFirst) throw error;
    const said = isRefused ? (isFirst ? "refused" : "refused-later") : "failed";
    const now = await lookAgain(() => look(store)).catch((failure: unknown) => {
      throw said === "refused" ? failure : new StorageError("outcome-unknown", error);
    });
    const outcome = sending.outcome(now, said);
    if (typeof outcome !== "string") return outcome;
    // Without an answer, the request may still be on its way.
    if (said !== "refused" && (outcome === "unknown" || httpStatusCode === undefined))
      throw new StorageError("outcome-unknown", error);
    if (!isRefused) throw error;
    if (isUploadGone(error)) throw new StorageError("conflict", error);
    return { again: now };
  }
}

/** Removes a file, or without one the marker of a directory: what is put into it meanwhile keeps it. */
function removal(places: Places, path: string, file: StoredObject | undefined): Sending<void> {
  return {
    async send(store) {
      await places.makeMarker(parentOf(path), store); // it outlives what is in it
      await store.remove(places.keyOf(file ? path : slashed(path)), file);
      places.saw(path, { kind: "nothing" });
    },
    outcome(now, said) {
      if (now.kind === "nothing") return said === "refused" ? "not-made" : { made: undefined };
      if (now.kind === "directory" || !file) return "unknown";
      return isKnownSince(file, now.object) ? "not-made" : "unknown";
    },
  };
}

/** What is there now. In the outage in which an answer was lost, the first look may fail, too. */
async function lookAgain(look: () => Promise<Found>): Promise<Found> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await look();
    } catch (error) {
      if (looks === maxLooks || !isOutage(error)) throw error;
      await pause(Math.random() * lookPauseMs);
    }
  }
}
