import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { requireHeld } from "../locks.ts";
import { StorageError, type StoredStat } from "../storage.ts";
import { type Change, type ChangeResult, Draft, type Group, type Outcome, WaitingChanges } from "../waiting-changes.ts";
import { endAppend, removeNote } from "./append.ts";
import { Elsewhere, unlessElsewhere, within } from "./directory.ts";
import { type Disk, type LockedTarget, maxAttempts } from "./disk.ts";
import { diskLocks } from "./disk-locks.ts";
import { errnoOf, type FileRecord, fileIdentity, statOf, uniqueMoment } from "./file-record.ts";
import type { Job, JobResult, ReceivedContent } from "./jobs.ts";
import { knownWhole, openFile, settle, type WholeFile, whileAppending } from "./look.ts";
import { inPool } from "./system-calls.ts";
import { appendNoteName, temporaryFileName } from "./temporary-names.ts";

/** A file, or nothing, as it is known to be or to have been a moment ago. */
interface Known {
  readonly file: WholeFile | undefined;
  /** Whether it was looked at under the lock. */
  readonly isFresh: boolean;
}

const nothing: Known = { file: undefined, isFresh: true };

/** Between attempts to replace a file that is being read, in milliseconds; half a second in all. */
const firstPauseMs = 4;
const lastPauseMs = 256;

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
      disk.locked(path, (target) => this.#make(path, target, group), group.since),
    );
  }

  run(path: string, change: Change, cleanUp?: () => Promise<void>): Promise<ChangeResult> {
    return this.#waiting.run(path, change, cleanUp);
  }

  async close(): Promise<void> {
    await this.#waiting.close();
    await this.#notes.close();
    await this.#disk.removeSpares();
  }

  async #make(path: string, target: LockedTarget, group: Group): Promise<void> {
    const isBelowNothing = target.missing.length > 0;
    const remembered = knownWhole(target.real);
    let known = isBelowNothing ? nothing : remembered && { file: remembered, isFresh: false };
    for (let attempt = 1; attempt <= maxAttempts; ) {
      await this.#disk.callWitnesses(path);
      const { file, isFresh } = known ?? (await this.#known(target, await this.#disk.look(target.real)));
      known = undefined;
      let isStale = false;
      const read = async (): Promise<Uint8Array> => {
        const opening = within(target.directory, (open) => openFile(this.#disk, open, target.name));
        const opened = await opening.catch(unlessElsewhere);
        isStale = !opened || opened.stat.version !== file?.stat.version;
        if (!opened) throw new StorageError("conflict");
        return opened.bytes().finally(() => opened.close());
      };
      const draft = new Draft(file?.stat, read, !isBelowNothing);
      await group.apply(draft);
      // By what was there a moment ago, no change is refused.
      if (!isFresh && (isStale || group.isDoubtful)) continue;
      attempt += 1;
      if (isStale) continue;
      if (!draft.outcome) return group.done(undefined);
      requireHeld(target.held);
      const result = await this.#store(target, file, draft.outcome, group);
      if (result?.isDone) return group.done(this.#settled(target, draft, result.record));
      known = result && (await this.#known(target, result));
    }
    throw new StorageError("conflict");
  }

  /** What was found. An append cut short by a crash is ended first. */
  async #known(target: LockedTarget, { record, hasNote }: JobResult): Promise<Known> {
    if (!record) return nothing;
    if (record.type === "link") throw new Elsewhere();
    if (record.type === "directory") throw new StorageError("is-directory");
    if (record.type === "other") throw new StorageError("forbidden");
    if (!hasNote || knownWhole(target.real)?.stat.version === statOf(record).version)
      return { file: settle(target.real, record), isFresh: true };
    const mend = (): Promise<void> =>
      within(target.directory, (open) => inPool(endAppend(open.at(appendNoteName(record.ino)), open.at(target.name))));
    await (record.nlink > 1n ? diskLocks.run(fileIdentity(record), mend) : mend());
    return this.#known(target, { ...(await this.#disk.look(target.real)), hasNote: false });
  }

  /** `undefined` where the directory has gone, or another program put a file there. */
  async #store(
    target: LockedTarget,
    file: WholeFile | undefined,
    outcome: Outcome,
    group: Group,
  ): Promise<JobResult | undefined> {
    const job = this.#jobOf(target, file, outcome);
    const run = (): Promise<JobResult> => this.#disk.run(job, (error) => group.giveUp(error));
    try {
      if (outcome.kind === "replaced" || !file) return await untilUnread(run);
      const append = (): Promise<JobResult> => whileAppending(target.real, file, run);
      return await (file.isShared ? diskLocks.run(file.identity, append) : append());
    } catch (error) {
      if (!["ENOENT", "EEXIST"].includes(errnoOf(error))) throw error;
      if (target.missing.length > 0) throw new Elsewhere();
      return undefined;
    }
  }

  #jobOf(target: LockedTarget, file: WholeFile | undefined, outcome: Outcome): Job {
    const { directory, missing, name } = target;
    const place = { directory, name, expected: file?.stat.version, sync: this.#disk.sync };
    if (outcome.kind === "replaced") {
      const content = outcome.content as Uint8Array | ReceivedContent; // the only other content of this storage
      return { kind: "replace", ...place, missing, content, temporary: temporaryFileName(), moment: uniqueMoment() };
    }
    const parts = outcome.content as readonly (Uint8Array | ReceivedContent)[];
    const [first] = parts;
    const content = parts.length === 1 && first ? first : Buffer.concat(parts as Uint8Array[]); // others are alone
    return { kind: "append", ...place, content, keepsNote: !!file && this.#notes.keeps(target, file.identity) };
  }

  #settled({ real }: LockedTarget, draft: Draft, record: FileRecord | undefined): StoredStat {
    if (record) return settle(real, record, true).stat;
    // The change is made. With a version that no file has, conditions on it fail rather than hold by chance.
    const version = randomBytes(16).toString("base64url");
    return { type: "file", size: draft.stat?.size ?? 0, modified: new Date(), version };
  }
}

/** Windows, and a disk of it over a network, replaces no file that is open. Most readers close it within a moment. */
async function untilUnread(replace: () => Promise<JobResult>): Promise<JobResult> {
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    try {
      return await replace();
    } catch (error) {
      const isWindows = process.platform === "win32";
      const isOpen = (isWindows ? ["EPERM", "EACCES", "EBUSY"] : ["EBUSY"]).includes(errnoOf(error));
      if (!isOpen) throw error;
      if (pauseMs > lastPauseMs) throw isWindows ? new StorageError("busy", error) : error; // it is a mount point
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
  /** Files that were appended to a moment ago, by identity and place: a new file may get the inode number of one. */
  readonly #recent = new LRUCache<string, true>({ maxSize: maxFiles, sizeCalculation: () => 1, ttl: soonMs });
  readonly #standing = new Map<string, { readonly timer: NodeJS.Timeout; readonly remove: () => Promise<void> }>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Whether the note of an append that is about to be made is to stay. Called under the lock of the file. */
  keeps({ real, directory }: LockedTarget, identity: string): boolean {
    const key = `${identity} ${real}`;
    const isExpected = this.#recent.has(key);
    this.#recent.set(key, true);
    if (!isExpected) return false;
    const standing = this.#standing.get(key);
    standing?.timer.refresh();
    if (standing || this.#standing.size >= maxFiles) return standing !== undefined;
    const noteName = appendNoteName(BigInt(identity.slice(identity.lastIndexOf(":") + 1)));
    const forget = () => within(directory, (open) => inPool(removeNote(open.at(noteName))));
    const remove = async (): Promise<void> => {
      try {
        const isGone = await diskLocks.tryRun(real, forget);
        if (!isGone) return void this.#standing.get(key)?.timer.refresh(); // the file is being changed
      } catch (error) {
        this.#disk.report(error);
      }
      this.#standing.delete(key);
    };
    this.#standing.set(key, { timer: setTimeout(remove, soonMs).unref(), remove });
    return true;
  }

  async close(): Promise<void> {
    for (const { timer, remove } of this.#standing.values()) {
      clearTimeout(timer);
      await remove();
    }
  }
}
