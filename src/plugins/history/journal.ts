import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { access, type FileHandle, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TimeSlice } from "../../event-loop/sliced-work.ts";

/** What is to become a commit. */
export interface JournalRecord {
  readonly path: string;
  /** `"found"` and `"missed"`: as it is, by an unknown author; only where history has another content, or any. */
  readonly kind: "written" | "appended" | "deleted" | "found" | "missed";
  /** First line of the commit. */
  readonly summary: string;
  /** In milliseconds since 1970. */
  readonly time: number;
  /** The time of the change before which a file was found so, in the same unit: then it became part of the order. */
  readonly orderTime?: number | undefined;
  readonly user?: string | undefined;
  readonly requestId?: string | undefined;
  readonly selector?: string | undefined;
  /** Bytes of the file after the change, where that is known. */
  readonly size?: number | undefined;
  /** Entity tag of the file after the change, and before it (`""` for no file), where they are known. */
  readonly etag?: string | undefined;
  readonly follows?: string | undefined;
}

export interface ReadRecord extends JournalRecord {
  readonly content: Buffer;
  /** Name of the journal, and how many records of it came before. */
  readonly journal: string;
  readonly number: number;
  /** Counts the records of a process. One is in two journals where writing it failed half-way. */
  readonly order: number;
}

/** Size of a journal in bytes after which another one begins; the first can be removed once it is in the repository. */
const maxJournalBytes = 4 * 1024 * 1024;
/** And its age in milliseconds. */
const maxJournalMs = 3_600_000;
/** Two lengths of four bytes, and the order of six. */
const headBytes = 14;

/** Is told how many bytes have come to a journal, and why some could not be written. */
export interface JournalObserver {
  written?(bytes: number): void;
  report?(error: unknown): void;
}

/**
 * What this process has changed and is not in the repository yet: records of a head, JSON and content. A record that a
 * crash has cut short is not read: its change had no reply yet.
 */
export class Journal {
  readonly #directory: string;
  readonly #observer: JournalObserver;
  /** Names this process; its journals are `<owner>-<number>`. */
  readonly owner: string = randomBytes(8).toString("hex");
  /** Whether other machines make commits of it: then a record is on the disk before its change has a reply. */
  isShared = false;
  #handle: FileHandle | undefined;
  #sequence = 0;
  #order = 0;
  #openedAt = 0;
  #written = 0;
  /** Parts of records, until they are written. */
  readonly #waiting: Uint8Array[] = [];
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();
  /** Whether the latest write failed: the next ones that do so are not reported. */
  #isFailing = false;

  constructor(directory: string, observer: JournalObserver = {}) {
    this.#directory = directory;
    this.#observer = observer;
  }

  /** Resolves when the record is in the file, or could not be written yet, which is reported. One write serves all. */
  add(record: JournalRecord, content: Uint8Array): Promise<void> {
    const text = Buffer.from(JSON.stringify(record));
    const head = Buffer.allocUnsafe(headBytes);
    head.writeUInt32BE(text.length);
    head.writeUInt32BE(content.length, 4);
    head.writeUIntBE(this.#order, 8, 6);
    this.#order += 1;
    this.#waiting.push(head, text, content);
    void this.retry();
    return this.#last;
  }

  /** Writes what waits, also what could not be written before: to a new file, as the old may end in half a record. */
  retry(): Promise<void> {
    if (this.#next) return this.#next;
    const next = this.#last.then(() => this.#write());
    this.#next = next;
    this.#last = next.catch(() => {});
    return next;
  }

  async #write(): Promise<void> {
    this.#next = undefined;
    const parts = [...this.#waiting];
    if (parts.length === 0) return;
    const before = this.#handle;
    try {
      if (!before || this.#written >= maxJournalBytes || Date.now() - this.#openedAt >= maxJournalMs) {
        this.#openedAt = Date.now();
        this.#written = 0;
        this.#sequence += 1;
        await requireRepository(this.#directory);
        await mkdir(this.#directory, { recursive: true });
        const name = `${this.owner}-${String(this.#sequence).padStart(8, "0")}.journal`;
        this.#handle = await open(join(this.#directory, name), "ax", 0o600);
        await before?.close();
      }
      const length = lengthOf(parts);
      this.#written += length;
      const { bytesWritten = 0 } = (await this.#handle?.writev(parts)) ?? {};
      if (bytesWritten < length) await this.#handle?.appendFile(Buffer.concat(parts).subarray(bytesWritten));
      if (this.isShared) await this.#handle?.datasync();
      this.#waiting.splice(0, parts.length);
      this.#isFailing = false;
      this.#observer.written?.(length);
    } catch (error) {
      if (!this.#isFailing)
        this.#observer.report?.(new Error("history: changes could not be noted yet", { cause: error }));
      this.#isFailing = true;
      await this.#handle?.close().catch(() => {}); // what failed is told already
      this.#handle = undefined;
      throw error;
    }
  }

  /** Bytes that wait since they could not be written; also while that is tried again. */
  get unwritten(): number {
    return this.#isFailing ? lengthOf(this.#waiting) : 0;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#handle?.close();
    this.#handle = undefined;
  }
}

/** Reads all journals in a directory, each from where it was read last. */
export class JournalReader {
  readonly #directory: string;
  readonly #places = new Map<string, { offset: number; number: number }>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Names of the journals, in the order of each owner. */
  async names(): Promise<readonly string[]> {
    const names = await readdir(this.#directory).catch(async () => {
      await requireRepository(this.#directory);
      return [];
    });
    return names.filter((name) => name.endsWith(".journal")).sort();
  }

  async next(journal: string): Promise<readonly ReadRecord[]> {
    const place = this.#places.get(journal) ?? { offset: 0, number: 0 };
    this.#places.set(journal, place);
    const file = await open(join(this.#directory, journal));
    try {
      const come = Buffer.alloc(Math.max(0, (await file.stat()).size - place.offset));
      const { bytesRead } = await file.read(come, 0, come.length, place.offset);
      const records: ReadRecord[] = [];
      let start = headBytes;
      const slice = new TimeSlice();
      while (start <= bytesRead) {
        if (slice.isOver) await slice.renew();
        const head = come.subarray(start - headBytes, start);
        const contentStart = start + head.readUInt32BE();
        const end = contentStart + head.readUInt32BE(4);
        if (end > bytesRead) break;
        const record = JSON.parse(come.toString("utf8", start, contentStart)) as JournalRecord;
        const [content, order] = [come.subarray(contentStart, end), head.readUIntBE(8, 6)];
        records.push(Object.assign(record, { content, journal, number: place.number, order }));
        place.number += 1;
        start = end + headBytes;
      }
      place.offset += start - headBytes;
      return records;
    } finally {
      await file.close();
    }
  }

  /** Bytes of a journal that have not been read. */
  async unread(journal: string): Promise<number> {
    return (await stat(join(this.#directory, journal))).size - (this.#places.get(journal)?.offset ?? 0);
  }

  /** Forgets a journal whose records are all in the repository, and removes it. */
  async remove(journal: string): Promise<void> {
    this.#places.delete(journal);
    await rm(join(this.#directory, journal), { force: true });
  }
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Throws where the repository around is away. A git that ends just then may leave directories in its place. */
async function requireRepository(directory: string): Promise<void> {
  await access(join(dirname(directory), "HEAD"));
}

export function ownerOf(journal: string): string {
  return journal.slice(0, journal.indexOf("-"));
}
