import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { requireHeld } from "../locks.ts";
import { StorageError, type StoredStat } from "../storage.ts";
import { type Change, type ChangeResult, Draft, type Group, type Outcome, WaitingChanges } from "../waiting-changes.ts";
import { endAppend, removeNote } from "./append.ts";
import { type Directory, within } from "./directory.ts";
import type { Disk } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import { errnoOf, fileIdentity, statOf, uniqueMoment } from "./file-record.ts";
import { type FileRecord, type Job, type JobResult, look, type ReceivedContent } from "./jobs.ts";
import { type LockedTarget, locked, maxAttempts } from "./locked-target.ts";
import { knownWhole, openFile, settle, whileAppending } from "./look.ts";
import { inPool, type Program } from "./system-calls.ts";
import { appendNoteName, temporaryFileName } from "./temporary-names.ts";
import { inDirectory } from "./write-programs.ts";

/** A file as it is known to be, or to have been a moment ago. */
interface Known {
  /** `undefined` for nothing. */
  readonly stat: StoredStat | undefined;
  /** Names it, whatever paths lead to it. */
  readonly identity: string;
  /** Whether it has several names: then its own lock has to be held as well where it is changed in place. */
  readonly isShared: boolean;
  /** Whether it was looked at under the lock. */
  readonly isFresh: boolean;
}

const nothing: Known = { stat: undefined, identity: "", isShared: false, isFresh: true };

/** Between attempts to replace a file that is being read, in milliseconds; half a second in all. */
const firstPauseMs = 4;
const lastPauseMs = 256;

type Found = Extract<JobResult, { kind: "found" }>;

/** So long after an append the next one is expected, in milliseconds. */
const soonMs = 1000;
const maxFiles = 1000;

/** Changes the files of a disk: each change is judged by what is known of the file, and made if that is there. */
export class DiskChanges {
  readonly #disk: Disk;
  readonly #waiting: WaitingChanges;
  readonly #notes: StandingNotes;

  constructor(disk: Disk) {
    this.#disk = disk;
    this.#notes = new StandingNotes(disk);
    this.#waiting = new WaitingChanges((path, group) =>
      locked(disk, path, group.since, (target) => this.#make(path, target, group)),
    );
  }

  run(path: string, change: Change, isAlone = false): Promise<ChangeResult> {
    return this.#waiting.run(path, change, isAlone);
  }

  async close(): Promise<void> {
    await this.#waiting.close();
    await this.#notes.close();
  }

  async #make(path: string, target: LockedTarget, group: Group): Promise<"done" | "elsewhere"> {
    const isBelowNothing = target.missing.length > 0;
    let known = isBelowNothing ? nothing : remembered(target.real);
    for (let attempt = 1; attempt <= maxAttempts; ) {
      await this.#disk.callWitnesses(path);
      known ??= await this.#look(target);
      if (!known) return "elsewhere";
      const looked = known;
      known = undefined;
      let isStale = false;
      const read = async (): Promise<Uint8Array> => {
        const file = await within(target.directory, (open) => openFile(this.#disk, open, target.name));
        isStale = !file || file === "elsewhere" || file.stat.version !== looked.stat?.version;
        if (!file || file === "elsewhere") throw new StorageError("conflict");
        return file.bytes().finally(() => file.close());
      };
      const draft = new Draft(looked.stat, read, !isBelowNothing);
      await group.apply(draft);
      // By what was there a moment ago, no change is refused.
      if (!looked.isFresh && (isStale || group.isDoubtful)) continue;
      attempt += 1;
      if (isStale) continue;
      if (!draft.outcome) return answered(group, undefined);
      requireHeld(target.held);
      const result = await this.#store(target, looked, draft.outcome, group);
      if (result === "again" && !isBelowNothing) continue;
      if (result === "again" || result.kind === "elsewhere") return "elsewhere";
      if (result.kind === "done") return answered(group, this.#settled(target, draft, result.record));
      known = await this.#known(target, result);
      if (!known) return "elsewhere";
    }
    throw new StorageError("conflict");
  }

  async #look(target: LockedTarget): Promise<Known | undefined> {
    const { directory, name } = target;
    const result = await this.#disk.run({ kind: "look", directory, name });
    return result.kind === "found" ? this.#known(target, result) : undefined;
  }

  /** What was found; `undefined` if the path leads elsewhere. An append cut short by a crash is ended first. */
  async #known(target: LockedTarget, { found, hasNote }: Found): Promise<Known | undefined> {
    if (!found) return nothing;
    if (found.type === "link") return undefined;
    if (found.type === "directory") throw new StorageError("is-directory");
    if (found.type === "other") throw new StorageError("forbidden");
    if (hasNote && knownWhole(target.real)?.stat.version !== statOf(found).version) {
      const mend = () => inPool(inDirectory(target.directory, (open) => ended(open, target.name, found.ino)));
      const mended = await (found.nlink > 1n ? diskLocks.run(fileIdentity(found), mend) : mend());
      return mended.kind === "found" ? this.#known(target, { ...mended, hasNote: false }) : undefined;
    }
    return { ...settle(target.real, found), isFresh: true };
  }

  /** `"again"` where the directory has gone, or another program put a file there. */
  async #store(target: LockedTarget, known: Known, outcome: Outcome, group: Group): Promise<JobResult | "again"> {
    const job = this.#jobOf(target, known, outcome);
    const run = (): Promise<JobResult> => this.#disk.run(job, (error) => group.giveUp(error));
    try {
      const { stat, identity, isShared } = known;
      if (outcome.kind === "replaced" || !stat) return await untilUnread(run);
      const append = (): Promise<JobResult> => whileAppending(identity, stat, run);
      return await (isShared ? diskLocks.run(identity, append) : append());
    } catch (error) {
      if (["ENOENT", "EEXIST"].includes(errnoOf(error))) return "again";
      throw error;
    }
  }

  #jobOf(target: LockedTarget, { stat, identity }: Known, outcome: Outcome): Job {
    const { directory, missing, name } = target;
    const place = { directory, missing, name, expected: stat?.version, sync: this.#disk.sync };
    if (outcome.kind === "replaced") {
      const content = outcome.content as Uint8Array | ReceivedContent; // the only other content of this storage
      return { kind: "replace", ...place, content, temporary: temporaryFileName(), moment: uniqueMoment() };
    }
    const content = joined(outcome.content as readonly (Uint8Array | ReceivedContent)[]);
    return { kind: "append", ...place, content, keepsNote: this.#notes.keeps(target, identity) };
  }

  #settled({ real }: LockedTarget, draft: Draft, record: FileRecord | undefined): StoredStat {
    if (record) return settle(real, record).stat;
    // The change is made. Its version is then one that no file has, so that conditions on it fail rather than hold by
    // chance.
    const version = randomBytes(16).toString("base64url");
    return { type: "file", size: draft.stat?.size ?? 0, modified: new Date(), version };
  }
}

async function answered(group: Group, stored: StoredStat | undefined): Promise<"done"> {
  await group.done(stored);
  return "done";
}

function remembered(real: string): Known | undefined {
  const known = knownWhole(real);
  return known && { ...known, isFresh: false };
}

/** Ends an append that its process did not live to end, and looks what is there then. */
function* ended(directory: Directory, name: string, inode: bigint): Program<JobResult> {
  yield* endAppend(directory.at(appendNoteName(inode)), directory.at(name));
  return yield* look(directory, name);
}

function joined(content: readonly (Uint8Array | ReceivedContent)[]): Uint8Array | ReceivedContent {
  const [first] = content;
  return content.length === 1 && first ? first : Buffer.concat(content as readonly Uint8Array[]); // others are alone
}

/** Windows does not replace a file that is open for reading. Most readers close it within a moment. */
async function untilUnread(replace: () => Promise<JobResult>): Promise<JobResult> {
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    try {
      return await replace();
    } catch (error) {
      const isOpen = process.platform === "win32" && ["EPERM", "EACCES", "EBUSY"].includes(errnoOf(error));
      if (!isOpen) throw error;
      if (pauseMs > lastPauseMs) throw new StorageError("busy", error);
      await pause(pauseMs);
    }
  }
}

/**
 * Notes that stay where appends to one file follow each other soon: the next one is written into the same note, whose
 * name is on the disk already. A note that stays does no harm, and goes when no other append comes.
 */
class StandingNotes {
  readonly #disk: Disk;
  /** Files that were appended to a moment ago, by identity. */
  readonly #recent = new LRUCache<string, true>({ max: maxFiles, ttl: soonMs });
  readonly #standing = new Map<string, { readonly timer: NodeJS.Timeout; readonly remove: () => Promise<void> }>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Whether the note of an append that is about to be made is to stay. Called under the lock of the file. */
  keeps({ real, directory }: LockedTarget, identity: string): boolean {
    const isExpected = this.#recent.has(identity);
    this.#recent.set(identity, true);
    if (!isExpected) return false;
    const standing = this.#standing.get(identity);
    standing?.timer.refresh();
    if (standing || this.#standing.size >= maxFiles) return standing !== undefined;
    const noteName = appendNoteName(BigInt(identity.slice(identity.lastIndexOf(":") + 1)));
    const forget = () => inPool(inDirectory(directory, (open) => removeNote(open.at(noteName))));
    const remove = async (): Promise<void> => {
      try {
        const isGone = await diskLocks.tryRun(real, forget);
        if (!isGone) return void this.#standing.get(identity)?.timer.refresh(); // the file is being changed
      } catch (error) {
        this.#disk.report(error);
      }
      this.#standing.delete(identity);
    };
    this.#standing.set(identity, { timer: setTimeout(remove, soonMs).unref(), remove });
    return true;
  }

  async close(): Promise<void> {
    for (const { timer, remove } of this.#standing.values()) {
      clearTimeout(timer);
      await remove();
    }
  }
}
