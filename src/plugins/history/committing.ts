import { type FSWatcher, mkdirSync, watch } from "node:fs";
import { rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { diskLocks } from "../../storage/disk/disk-locks.ts";
import { StorageError } from "../../storage/storage.ts";
import type { Importer } from "./importer.ts";
import { type Journal, JournalReader, ownerOf, type ReadRecord } from "./journal.ts";

/** How often journals of other processes are looked at where the system tells nothing, and what failed is tried again, in milliseconds. */
const lookMs = 1000;
/** Least time between two checkpoints of git, in milliseconds: each costs as much as many commits. */
const checkpointMs = 250;
/** How often one of another process is waited for whose change came before, in looks. */
const maxLooks = 3;
/** Commits between two checkpoints of git. */
const maxUnconfirmed = 500;
/** Commits after which git may tidy up. */
const commitsToTidy = 5000;
/** File beside the journals while more waits than may. */
const fullMark = "full";
/** And the time after which it does so anyway, in milliseconds: a day. */
const tidyMs = 86_400_000;

/** What makes commits of the journals of all processes, in one of them. */
export interface CommittingOptions {
  readonly directory: string;
  readonly own: Journal;
  readonly importer: Importer;
  /** Bytes of changes that may wait for git. */
  readonly maxBacklog: number;
  /** Writes what this process could not note before. */
  retry(): Promise<void>;
  /** Called when this process begins to make the commits. */
  began(): Promise<void>;
  /** Lets git tidy up; no commit is made meanwhile. */
  tidy(): Promise<void>;
  report(error: unknown): void;
}

/**
 * Makes commits of the records in all journals, in the order of each file's versions. One process does so, under a lock; another
 * takes over when it ends.
 */
export class Committing {
  readonly #options: CommittingOptions;
  #journals: JournalReader;
  /** Read, and not given to git yet; in the order of each journal. */
  readonly #queues = new Map<string, ReadRecord[]>();
  /** Given to git, and not known to be in the repository. */
  #unconfirmed: ReadRecord[] = [];
  /** Entity tags of files after their last commit. */
  readonly #tags = new Map<string, string>();
  #imported: ReadonlyMap<string, number> = new Map();
  #watcher: FSWatcher | undefined;
  #wake: (() => void) | undefined;
  #hasNews = true;
  #isClosing = false;
  #isLeading = false;
  #isLeftToAnother = false;
  /** Bytes in the own journal that were not read yet, where this process makes the commits. */
  #uncollected = 0;
  #isToldFull = false;
  #isGathering = false;
  #checkpointAt = 0;
  #commits = 0;
  #tidiedAt = 0;
  /** When the oldest journal was begun. */
  #since = 0;
  #running: Promise<void> | undefined;
  /** Why commits cannot be made at the moment. */
  problem: unknown;

  constructor(options: CommittingOptions) {
    this.#options = options;
    this.#journals = new JournalReader(options.directory);
  }

  /** The lock of the process that makes the commits. */
  get #leader(): string {
    return join(this.#options.directory, "leader");
  }

  /** Bytes that wait for git, as far as this process knows: all where it makes the commits, else its latest. */
  get backlog(): number {
    const collected = [this.#unconfirmed, ...this.#queues.values()].flat();
    return collected.reduce((sum, { content }) => sum + content.length, this.#uncollected);
  }

  /** Whether more waits for git than may; told by the process that makes the commits to the others. */
  isFull(): boolean {
    if (this.#isToldFull && !this.#isLeading) void this.#lookWhetherFull(); // the next one hears whether it still is
    return this.#isToldFull || this.backlog > this.#options.maxBacklog;
  }

  start(): void {
    mkdirSync(this.#options.directory, { recursive: true });
    this.#watcher = watch(this.#options.directory, (_event, name) => {
      if (name === fullMark) void this.#lookWhetherFull();
      this.wake();
    });
    this.#watcher.on("error", () => {}); // it looks by itself as well
    this.#watcher.unref();
    void this.#lookWhetherFull();
    this.#running = this.#run();
  }

  /** Says that so many bytes are in the journal. */
  recorded(bytes: number): void {
    if (this.#isLeading) this.#uncollected += bytes;
    this.wake();
  }

  async #lookWhetherFull(): Promise<void> {
    this.#isToldFull = await stat(join(this.#options.directory, fullMark)).then(
      () => true,
      () => false,
    );
  }

  async #tellWhetherFull(): Promise<void> {
    const isFull = this.backlog > this.#options.maxBacklog;
    if (isFull === this.#isToldFull) return;
    this.#isToldFull = isFull;
    const mark = join(this.#options.directory, fullMark);
    await (isFull ? writeFile(mark, "") : rm(mark, { force: true }));
  }

  /** Says that there is something to do. */
  wake(): void {
    this.#hasNews = true;
    if (!this.#isGathering) this.#wake?.();
  }

  /** Resolves when all records of this process are in the repository, or another process will see to that. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#hasNews = true;
    this.#wake?.();
    const isLedByAnother = !this.#isLeading && (await diskLocks.tryRun(this.#leader, async () => true)) === undefined;
    this.#isLeftToAnother = isLedByAnother && !this.#isLeading;
    if (!this.#isLeftToAnother) await this.#running;
    this.#watcher?.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      try {
        await diskLocks.run(this.#leader, async () => {
          if (this.#isLeftToAnother) return;
          this.#isLeading = true;
          await this.#lead();
        });
      } catch (error) {
        if (error instanceof StorageError && error.code === "busy") continue; // another process makes the commits
        this.#fail(error);
        await this.#pause();
      }
    }
  }

  #fail(error: unknown): void {
    if (this.problem === undefined) this.#options.report(error);
    this.problem = error;
  }

  async #lead(): Promise<void> {
    this.#queues.clear();
    this.#unconfirmed = [];
    this.#journals = new JournalReader(this.#options.directory); // what was read before, and failed, is read again
    await rm(join(this.#options.directory, fullMark), { force: true });
    this.#isToldFull = false;
    const names = await this.#journals.names();
    const births = await Promise.all(
      names.map(async (name) => (await stat(join(this.#options.directory, name))).birthtimeMs),
    );
    this.#since = Math.min(Date.now(), ...births);
    this.#imported = await this.#options.importer.imported(this.#since);
    // What processes before have left comes first: the files are as that says.
    do {
      await this.#collect();
    } while ((await this.#commit(true)) > 0);
    await this.#confirm();
    this.#tags.clear();
    await this.#options.began();
    let looks = 0;
    for (;;) {
      this.#hasNews = false;
      try {
        await this.#options.retry();
        await this.#collect();
        const count = await this.#commit(looks >= maxLooks || this.#isClosing);
        looks = count > 0 ? 0 : looks + 1;
        await this.#confirm();
        this.problem = undefined;
        if (this.#commits >= commitsToTidy || Date.now() - this.#tidiedAt >= tidyMs) await this.#tidy();
        if (this.#isClosing && !this.#hasNews) return await this.#options.importer.close();
      } catch (error) {
        this.#fail(error);
        await this.#options.importer.close();
        this.#giveBack();
        if (this.#isClosing) return;
        await this.#pause();
        await this.#lookAgain().catch(ignore);
        continue;
      }
      if (!this.#hasNews && [...this.#queues.values()].every(({ length }) => length === 0)) await this.#pause();
      await this.#gather();
    }
  }

  /** What was given to git in vain stands in front again. */
  #giveBack(): void {
    for (const record of this.#unconfirmed.reverse()) this.#queueOf(record.journal).unshift(record);
    this.#unconfirmed = [];
    this.#tags.clear();
  }

  /** What failed may have been made all the same: what the repository has is not made again. */
  async #lookAgain(): Promise<void> {
    this.#imported = await this.#options.importer.imported(this.#since);
    for (const [journal, queue] of this.#queues) {
      const done = this.#imported.get(journal) ?? 0;
      this.#queues.set(
        journal,
        queue.filter(({ number }) => number >= done),
      );
    }
  }

  #queueOf(journal: string): ReadRecord[] {
    const queue = this.#queues.get(journal) ?? [];
    this.#queues.set(journal, queue);
    return queue;
  }

  async #collect(): Promise<void> {
    const collected = this.#uncollected;
    for (const journal of await this.#journals.names()) await this.#read(journal);
    this.#uncollected -= collected;
    await this.#tellWhetherFull();
  }

  /** Takes what has come to a journal; whether that was anything. */
  async #read(journal: string): Promise<boolean> {
    const done = this.#imported.get(journal) ?? 0;
    const records = await this.#journals.next(journal);
    this.#queueOf(journal).push(...records.filter(({ number }) => number >= done));
    if (records.length > 0) this.#hasNews = true; // there may be more
    return records.length > 0;
  }

  /** Gives git what is next, up to a checkpoint; how many records that were. `inAnyOrder`: also where a version before is missing. */
  async #commit(inAnyOrder: boolean): Promise<number> {
    let count = 0;
    while (this.#unconfirmed.length < maxUnconfirmed) {
      const record = this.#next(inAnyOrder) ?? (inAnyOrder ? this.#heads()[0] : undefined);
      if (!record) break;
      this.#queueOf(record.journal).shift();
      const isKnown = record.etag !== undefined && this.#tags.get(record.path) === record.etag;
      const isOld = record.kind === "found" && this.#isOver(record);
      this.#unconfirmed.push(record);
      if (!isKnown && !isOld) await this.#options.importer.add(record);
      if (record.kind !== "found") this.#tags.set(record.path, record.kind === "deleted" ? "" : (record.etag ?? ""));
      count += 1;
    }
    return count;
  }

  /** Whether a file was changed since it was found so. With a tag it was found right before a change that comes next. */
  #isOver({ path, etag }: ReadRecord): boolean {
    const isWaiting = (records: readonly ReadRecord[]): boolean =>
      records.some((each) => each.path === path && each.kind !== "found");
    return this.#tags.has(path) || (etag === undefined && [...this.#queues.values()].some(isWaiting));
  }

  /**
   * The earliest record that no other leads to; where the version before was not seen yet, not that one, nor what comes later for
   * its file. `inAnyOrder`: that version is lost, as that of a process that ended before it could note it.
   */
  #next(inAnyOrder: boolean): ReadRecord | undefined {
    const waiting = new Set<string>();
    for (const record of this.#heads()) {
      const { path, follows } = record;
      const tag = this.#tags.get(path);
      const isNext = follows === undefined || tag === undefined || tag === follows || inAnyOrder;
      if (isNext && !waiting.has(path) && !this.#isPreceded(record)) return record;
      waiting.add(path);
    }
    return undefined;
  }

  /** The first record of each journal, in the order of their times. */
  #heads(): readonly ReadRecord[] {
    return [...this.#queues.values()].flatMap(([first]) => first ?? []).sort((a, b) => a.time - b.time);
  }

  /** Whether the version that a record follows is in another journal. */
  #isPreceded({ path, follows, journal }: ReadRecord): boolean {
    return [...this.#queues].some(
      ([other, queue]) => other !== journal && queue.some((each) => each.path === path && each.etag === follows),
    );
  }

  async #confirm(): Promise<void> {
    if (this.#unconfirmed.length > 0) this.#checkpointAt = Date.now();
    await this.#options.importer.flush();
    this.#commits += this.#unconfirmed.length;
    this.#unconfirmed = [];
    await this.#tellWhetherFull();
    if (this.#tags.size > 100_000) this.#tags.clear();
    await this.#removeDone();
  }

  /** Removes journals that are in the repository as a whole, and that no process adds to any more. */
  async #removeDone(): Promise<void> {
    const names = await this.#journals.names();
    for (const [index, journal] of names.entries()) {
      if (this.#queueOf(journal).length > 0) continue;
      const isLast = names[index + 1] === undefined || ownerOf(names[index + 1] ?? "") !== ownerOf(journal);
      const isOwn = ownerOf(journal) === this.#options.own.owner;
      if (isLast && !(isOwn ? this.#isClosing : await this.#hasEnded(journal))) continue;
      if (await this.#read(journal)) continue; // it grew meanwhile
      this.#queues.delete(journal);
      await this.#journals.remove(journal);
    }
  }

  /** Whether the process that wrote a journal has ended. */
  async #hasEnded(journal: string): Promise<boolean> {
    const key = join(this.#options.directory, ownerOf(journal));
    return (await diskLocks.tryRun(key, async () => true)) !== undefined;
  }

  async #tidy(): Promise<void> {
    this.#commits = 0;
    this.#tidiedAt = Date.now();
    await this.#options.importer.close();
    if (await this.#options.importer.head()) await this.#options.tidy();
  }

  /** Waits for news, or until it is time to look without. */
  async #pause(): Promise<void> {
    await this.#sleep(lookMs);
  }

  /** Lets changes come together for the next checkpoint. */
  async #gather(): Promise<void> {
    this.#isGathering = true;
    await this.#sleep(this.#checkpointAt + checkpointMs - Date.now());
    this.#isGathering = false;
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isClosing || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(ms, lookMs)).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** What fails here fails again in the next round, which says so. */
function ignore(): void {}
