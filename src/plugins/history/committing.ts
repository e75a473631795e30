import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { itemsInSlices } from "../../event-loop/sliced-work.ts";
import { diskLocks } from "../../storage/disk/disk-locks.ts";
import type { Importer } from "./importer.ts";
import { type Journal, JournalReader, ownerOf } from "./journal.ts";
import { WaitingRecords } from "./waiting-records.ts";

/** Least time between two checkpoints of git, in milliseconds: each costs as much as many commits, and makes a pack. */
const checkpointMs = 250;
/** The same after at least `busyCommits` commits at once, or none for `idleLooks`. */
const busyCheckpointMs = 1000;
const busyCommits = 100;
/** Looks in a row that find nothing, after which git ends until more comes, and looks are rarer: about a minute. */
const idleLooks = 240;
/** How long after a failure all is tried again, and until another process takes over, in milliseconds. */
const retryMs = 500;
/** The same after several in a row: each may give git much in vain. */
const maxRetryMs = 8000;
/** Age at which the last journal of a process on another machine is taken for its end, in milliseconds: a day. */
const forgottenMs = 86_400_000;
/** How far the clocks of machines may be apart, in milliseconds. */
const clockMs = 3_600_000;
/** How often a record is looked for whose change came before one that is there. */
const maxLooks = 3;
/** The same while another process may be about to note it, some five seconds. */
const maxLooksForOthers = 20;
/** Commits between two checkpoints of git. */
const maxUnconfirmed = 5000;
/** Bytes that wait for git beyond which no other file is looked at, and no other journal of a process is read. */
const maxWaiting = 16 * 1024 * 1024;
/** Commits after which git may tidy up. */
const commitsToTidy = 5000;
/** And the time after which it does so anyway, in milliseconds: a day. */
const tidyMs = 86_400_000;

/** What makes commits of the journals of all processes, in one of them. */
export interface CommittingOptions {
  readonly directory: string;
  readonly own: Journal;
  readonly importer: Importer;
  readonly maxBacklog: number;
  /** Notes what files have become without a server. Asks before each, and waits, whether it is to go on. */
  look(goesOn: () => Promise<boolean>): Promise<void>;
  /** Lets git tidy up; no commit is made meanwhile. */
  tidy(): Promise<void>;
  report(error: unknown): void;
}

/** Commits the records of all journals, in the order of versions. One process does so, under a lock, until it ends. */
export class Committing {
  readonly #options: CommittingOptions;
  /** The lock of the process that makes the commits. */
  readonly #leader: string;
  /** A file that is there while more waits than may: tells the other processes. */
  readonly #fullMark: string;
  readonly #closing = new AbortController();
  #journals: JournalReader;
  /** Read, and not given to git yet. */
  #waiting = new WaitingRecords();
  /** The latest record read of each process. */
  readonly #orders = new Map<string, number>();
  /** Bytes read, and not known to be in the repository. */
  #unconfirmed = 0;
  /** Bytes in the own journal since the last look at the journals, where this process makes the commits. */
  #uncollected = 0;
  /** Bytes that the last look at the journals has left for later. */
  #unread = 0;
  /** Whether none of the records that wait could be given to git the last time. */
  #isStuck = false;
  #imported: ReadonlyMap<string, number> = new Map();
  #isLeading = false;
  #isMarkedFull = false;
  #commits = 0;
  #tidiedAt = 0;
  #running: Promise<void> | undefined;
  readonly #problems = new Map<"commits" | "files", unknown>();
  /** How often something has failed since commits were made. */
  #failures = 0;

  constructor(options: CommittingOptions) {
    this.#options = options;
    this.#leader = join(options.directory, "leader");
    this.#fullMark = join(options.directory, "full");
    this.#journals = new JournalReader(options.directory);
  }

  /** Why commits cannot be made at the moment, or files not be looked at. */
  get problem(): unknown {
    return [...this.#problems.values()][0];
  }

  /** Bytes that wait for git, where this process makes the commits. */
  get backlog(): number {
    return this.#isLeading ? this.#unconfirmed + this.#uncollected + this.#unread : 0;
  }

  async isFull(): Promise<boolean> {
    if (this.#isLeading) return this.backlog > this.#options.maxBacklog;
    return (await stat(this.#fullMark).catch(() => undefined)) !== undefined;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Says that so many bytes are in the journal. */
  recorded(bytes: number): void {
    if (this.#isLeading) this.#uncollected += bytes;
  }

  /** Resolves when all records of this process are in the repository, or another process will see to that. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    for (let isOver = false; !isOver; await this.#pause(retryMs)) {
      const isLast = this.#isClosing;
      try {
        await this.#options.own.retry(); // what this process could not note before
        const led = await diskLocks.tryRun(this.#leader, (held) => this.#lead(() => held?.isOver?.() ?? false));
        this.#problems.clear(); // another process makes the commits
        isOver = isLast || (led !== undefined && this.#isClosing);
      } catch (error) {
        await this.#failed("commits", error);
        isOver = isLast;
      }
    }
  }

  async #failed(what: "commits" | "files", error: unknown): Promise<void> {
    if (!this.#problems.has(what)) this.#options.report(error);
    this.#problems.set(what, error);
    await this.#pause(Math.min(retryMs * 2 ** this.#failures, maxRetryMs));
    this.#failures += 1;
  }

  /** `isOver`: whether another machine may make commits by now; git refuses those of one of both. */
  async #lead(isOver: () => boolean): Promise<void> {
    const { importer } = this.#options;
    this.#isLeading = true;
    this.#isMarkedFull = true; // perhaps, by a process before
    let looking = Promise.resolve();
    while (!isOver()) {
      try {
        await this.#readAnew();
        await this.#commitWhatIsLeft();
        looking = looking.then(() => this.#look());
        await this.#commitWhatComes(isOver);
        await importer.close();
        break;
      } catch (error) {
        await importer.close();
        await this.#failed("commits", error);
        if (this.#isClosing) break;
      }
    }
    this.#isLeading = false;
    await looking;
  }

  /** Looks at all files, while nothing fails that makes it begin anew. */
  async #look(): Promise<void> {
    const begun = this.#waiting;
    const goesOn = (): boolean => this.#isLeading && !this.#isClosing && this.#waiting === begun;
    while (goesOn()) {
      try {
        await this.#options.look(async () => {
          while (goesOn() && this.backlog > maxWaiting) await this.#pause(checkpointMs);
          return goesOn();
        });
        this.#problems.delete("files");
        return;
      } catch (error) {
        await this.#failed("files", error);
      }
    }
  }

  /** Begins with what is in the journals and not in the repository, also what was given to git in vain. */
  async #readAnew(): Promise<void> {
    this.#waiting = new WaitingRecords();
    this.#orders.clear();
    this.#unconfirmed = 0;
    this.#uncollected = 0;
    this.#unread = 0;
    this.#journals = new JournalReader(this.#options.directory);
    const names = await this.#journals.names();
    const files = await Promise.all(names.map((name) => stat(join(this.#options.directory, name))));
    const since = Math.min(Date.now(), ...files.map(({ birthtimeMs }) => birthtimeMs));
    this.#imported = await this.#options.importer.imported(since - (this.#options.own.isShared ? clockMs : 0));
  }

  /** What processes before have left comes first: the files are as that says. */
  async #commitWhatIsLeft(): Promise<void> {
    await this.#readAll();
    let { looks } = this.#waiting;
    while (this.#unread > 0 || this.#waiting.hasAnyUntil(looks)) {
      const isMoreLeft = this.#unread > 0;
      const count = await this.#advance(this.#isClosing);
      if (isMoreLeft) looks = this.#waiting.looks;
      // Another process may be about to note what comes before the rest.
      if (count < maxUnconfirmed && !this.#goesOnReading && this.#waiting.hasAnyUntil(looks))
        await this.#pause(checkpointMs);
    }
    this.#waiting.forgetTags();
  }

  async #commitWhatComes(isOver: () => boolean): Promise<void> {
    for (let idle = 0; !isOver(); ) {
      const isLast = this.#isClosing;
      await this.#options.own.retry(); // what this process could not note before
      const count = await this.#advance(isLast);
      if (isLast && count === 0) return;
      idle = count === 0 ? idle + 1 : 0;
      if (idle === idleLooks) await this.#options.importer.close();
      this.#problems.delete("commits");
      this.#failures = 0;
      if (this.#commits >= commitsToTidy || Date.now() - this.#tidiedAt >= tidyMs) {
        this.#commits = 0;
        this.#tidiedAt = Date.now();
        await this.#options.importer.close();
        await this.#options.tidy();
      }
      if (this.#goesOnReading) continue;
      // More come together meanwhile.
      await this.#pause(count < busyCommits && idle < idleLooks ? checkpointMs : busyCheckpointMs);
    }
  }

  /** Reads what has come, and has git commit some of it; how many records. `isLast`: nothing is waited for. */
  async #advance(isLast: boolean): Promise<number> {
    await this.#readAll();
    const looks = isLast ? -1 : (await this.#hasOthers()) ? maxLooksForOthers : maxLooks;
    await this.#tellWhetherFull();
    let count = 0;
    let bytes = 0;
    for (; count < maxUnconfirmed; count += 1) {
      const taken = this.#waiting.take(looks);
      if (!taken) break;
      if (taken.isNew) await this.#options.importer.add(taken.record);
      bytes += taken.record.content.length;
    }
    if (count > 0) await this.#options.importer.flush();
    this.#isStuck = count === 0;
    this.#commits += count;
    this.#unconfirmed -= bytes;
    await this.#tellWhetherFull();
    await this.#removeDone();
    return count;
  }

  /** Reads what has come, but leaves journals of processes that have much waiting for later. */
  async #readAll(): Promise<void> {
    const collected = this.#uncollected;
    if (!this.#goesOnReading) this.#waiting.looks += 1;
    let unread = 0;
    for (const journal of await this.#journals.names()) {
      if (this.#hasEnoughOf(journal)) unread += await this.#journals.unread(journal);
      else await this.#read(journal);
    }
    this.#unread = unread;
    this.#uncollected -= collected;
  }

  #hasEnoughOf(journal: string): boolean {
    return this.#unconfirmed > maxWaiting && this.#waiting.hasAnyOf(ownerOf(journal));
  }

  /** Whether what comes before the records that wait may be in what was left for later: no look for it was in vain. */
  get #goesOnReading(): boolean {
    return this.#unread > 0 && !this.#isStuck;
  }

  /** Takes what has come to a journal; whether that was anything. */
  async #read(journal: string): Promise<boolean> {
    const done = this.#imported.get(journal) ?? 0;
    const records = await this.#journals.next(journal);
    const owner = ownerOf(journal);
    for await (const record of itemsInSlices(records)) {
      const isAgain = record.order <= (this.#orders.get(owner) ?? -1);
      if (!isAgain) this.#orders.set(owner, record.order);
      if (isAgain || record.number < done) continue;
      this.#waiting.add(record);
      this.#unconfirmed += record.content.length;
    }
    return records.length > 0;
  }

  async #tellWhetherFull(): Promise<void> {
    const isFull = await this.isFull();
    if (isFull === this.#isMarkedFull) return;
    this.#isMarkedFull = isFull;
    await (isFull ? writeFile(this.#fullMark, "") : rm(this.#fullMark, { force: true }));
  }

  /** Removes journals that are in the repository as a whole, and that no process adds to any more. */
  async #removeDone(): Promise<void> {
    const names = await this.#journals.names();
    for (const [index, journal] of names.entries()) {
      if (this.#waiting.hasAnyOf(journal) || this.#hasEnoughOf(journal)) continue;
      const isLast = ownerOf(names[index + 1] ?? "") !== ownerOf(journal);
      const isOwn = ownerOf(journal) === this.#options.own.owner;
      if (isLast && !(isOwn ? this.#isClosing : await this.#hasEnded(journal))) continue;
      if (await this.#read(journal)) continue; // it grew meanwhile
      await this.#journals.remove(journal);
    }
  }

  /** Whether other processes are known that have not ended. */
  async #hasOthers(): Promise<boolean> {
    const owners = new Map((await this.#journals.names()).map((journal) => [ownerOf(journal), journal]));
    owners.delete(this.#options.own.owner);
    for (const journal of owners.values()) if (!(await this.#hasEnded(journal))) return true;
    return false;
  }

  async #hasEnded(journal: string): Promise<boolean> {
    const { directory, own } = this.#options;
    if (own.isShared) return Date.now() - (await stat(join(directory, journal))).mtimeMs > forgottenMs;
    return (await diskLocks.tryRun(join(directory, ownerOf(journal)), async () => true)) !== undefined;
  }

  /** Waits, at most until this is closed. */
  async #pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#closing.signal, ref: false }).catch(() => {});
  }
}
