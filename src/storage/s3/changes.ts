import { setTimeout as pause } from "node:timers/promises";
import { PathLock } from "../locks.ts";
import { StorageError } from "../storage.ts";
import { type Condition, unchangedSince } from "./object-store.ts";
import { type Found, maxKeptBytes, objectAt, type Places } from "./places.ts";
import { attemptsOf, isAbsent, isAnswer, isLostRace, isOutage, isUploadGone } from "./store-error.ts";
import { newMark, type StoredObject, wasMade } from "./stored-object.ts";

/** Most times that a change is begun again after losing a race: with four rivals, one in a million loses all. */
const maxTries = 48;
/** Longest pause between two tries, in milliseconds. Longer than a rival takes, it only loses more often. */
const maxPauseMs = 250;
/** How often a write whose answer was lost is looked for, and the longest pauses between, in milliseconds. */
const maxLooks = 4;
const lookPauseMs = 1_000;

/**
 * What a store said of a change that it did not acknowledge: it came too late, or an attempt after the first did, which
 * may have been made by the first; or nothing of use.
 */
export type Refusal = "refused" | "refused-later" | "failed";

export interface Sending<Made> {
  send(): Promise<Made>;
  /** What has become of one that was not acknowledged, as far as what is there now tells. */
  outcome(now: Found, said: Refusal): { readonly made: Made } | "not-made" | "unknown";
}

/** How a try to change something ended. `again`: with what is there now. */
export type Tried<Made> = Sending<Made> | { readonly unchanged: Made } | { readonly again: Found };

export interface Commit {
  readonly path: string;
  readonly mark: string;
  /** The version that it is on top of. */
  readonly before: StoredObject | undefined;
  readonly bytes?: Uint8Array | undefined;
}

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
   * may be about what was seen a moment ago: where that leads to an error, or to no change, it counts if it is true
   * still.
   *
   * A request whose answer was lost may have been made: the change is only tried again where it is known that it was
   * not.
   */
  run<Made>(
    path: string,
    lookNow: () => Promise<Found>,
    attempt: (found: Found, mark: string) => Promise<Tried<Made>>,
    mark: string = newMark(),
  ): Promise<Made> {
    const { store } = this.places;
    const look = (): Promise<Found> => store.bounded(lookNow);
    return this.#locks.run(path, async () => {
      const recent = this.places.recent(path);
      let found = recent ?? (await look());
      let isFresh = recent === undefined;
      for (let tries = 1; tries <= maxTries; tries += 1) {
        let failure: { readonly error: unknown } | undefined;
        let tried: Tried<Made> | undefined;
        try {
          tried = await attempt(found, mark);
        } catch (error) {
          if (isFresh) throw error;
          failure = { error };
        }
        if (tried && "send" in tried) {
          const sending = tried;
          const sent = await store.bounded(() => this.#send(look, sending));
          if ("made" in sent) return sent.made;
          tried = sent;
        }
        if (tried && "again" in tried) {
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

  /** Makes a request that changes something. If the store refuses it, or says nothing, looks what became of it. */
  async #send<Made>(
    look: () => Promise<Found>,
    sending: Sending<Made>,
  ): Promise<{ readonly made: Made } | { readonly again: Found }> {
    try {
      return { made: await sending.send() };
    } catch (error) {
      // Absent: the object that was to be replaced has gone.
      const isRefused = isLostRace(error) || isAbsent(error) || isUploadGone(error);
      const isFirst = attemptsOf(error) === 1;
      if (!isRefused && !isOutage(error) && isFirst) throw error;
      const said = isRefused ? (isFirst ? "refused" : "refused-later") : "failed";
      const now = await lookAgain(look).catch((failure: unknown) => {
        throw said === "refused" ? failure : unknownOutcome(error);
      });
      const outcome = sending.outcome(now, said);
      if (typeof outcome !== "string") return outcome;
      // Without an answer, the request may still be on its way.
      if (said !== "refused" && (outcome === "unknown" || !isAnswer(error))) throw unknownOutcome(error);
      if (!isRefused) throw error;
      if (isUploadGone(error)) throw new StorageError("conflict", error);
      return { again: now };
    }
  }

  /** A request that stores an object in place of what was found; `made` says what that is to its maker. */
  commit<Made>(
    { path, mark, before, bytes }: Commit,
    store: (condition: Condition) => Promise<StoredObject>,
    made: (stored: StoredObject) => Made,
  ): Sending<Made> {
    return {
      send: async () => {
        const object = await store(unchangedSince(before));
        const isKept = bytes !== undefined && bytes.byteLength <= maxKeptBytes;
        const file = { kind: "file", object, wasRead: true, ...(isKept && { bytes }) } as const;
        this.places.saw(path, object.isTombstone ? { kind: "nothing", tombstone: object } : file);
        return made(object);
      },
      outcome(now, said) {
        const object = objectAt(now);
        // It may have been made, and removed by another.
        if (!object) return before || said === "refused-later" ? "unknown" : "not-made";
        const isMade = wasMade(mark, before, object);
        if (!isMade) return isMade === false ? "not-made" : "unknown";
        return { made: made(object.writes[0] === mark ? object : overtaken(object, mark)) };
      },
    };
  }
}

/** An object that others have changed since: its tag is theirs, and matches nothing of ours. */
function overtaken(object: StoredObject, mark: string): StoredObject {
  return { ...object, stat: { ...object.stat, version: `overtaken-${mark}` } };
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

function unknownOutcome(cause: unknown): StorageError {
  return new StorageError("outcome-unknown", cause);
}

/** Throws for an object whose content is stored in a coding: a part of it cannot be changed. */
export function requirePlain({ properties }: StoredObject): void {
  if (properties.ContentEncoding !== undefined) throw new StorageError("encoded");
}

function isSame(a: Found, b: Found): boolean {
  if (a.kind === "file" && b.kind === "file") return a.object.stat.version === b.object.stat.version;
  return a.kind === b.kind;
}
