import type { Buffer } from "node:buffer";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import { ConfigError } from "../../config.ts";
import { messageOf } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";
import { errnoOf } from "../../storage/disk/file-record.ts";
import { type Batch, LineQueue } from "./line-queue.ts";
import type { LogFailures } from "./log-failures.ts";
import { isDoneInTime, type Sink } from "./sink.ts";

/** How often to check for a deleted file, in milliseconds: writing to one succeeds. */
const checkEveryMs = 1_000;
/** The rest between two writes, in milliseconds: under load, a write for each turn of the event loop costs more than its lines. */
const gatherMs = 10;
/** A queue of fewer bytes could overflow meanwhile. */
const leastToGather = 256 * 1024;
/** The wait after the first failure, in milliseconds. It doubles with each failure up to the longest. */
const firstRestMs = 500;
const longestRestMs = 30_000;
/** The wait where a pipe is full, in milliseconds. */
const slowPipeMs = 50;

// Not blocking: a named pipe without a reader must neither delay the start nor occupy a pool thread for ever.
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/** Appends lines to a file, as many at a time as have come since the last write began. */
export class FileSink implements Sink {
  readonly #location: string;
  readonly #queue: LineQueue;
  readonly #failures: LogFailures;
  readonly #sites = new Set<Site>();
  readonly #gatherMs: number;
  #opening: Promise<FileHandle> | undefined;
  #handle: FileHandle | undefined;
  /** Being written; `offset` bytes of it are. */
  #batch: (Batch & { offset: number }) | undefined;
  #writing: Promise<void> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #rest: NodeJS.Timeout | undefined;
  #restMs = firstRestMs;
  #isSlowPipe = false;
  #checkedAt = performance.now();

  constructor(location: string, maxQueuedBytes: number, failures: LogFailures) {
    this.#location = location;
    this.#queue = new LineQueue(maxQueuedBytes);
    this.#failures = failures;
    this.#gatherMs = maxQueuedBytes < leastToGather ? 0 : gatherMs;
  }

  async start(site: Site): Promise<void> {
    this.#opening ??= this.#open();
    try {
      this.#handle = await this.#opening;
    } catch (error) {
      const expected = `expected one that can be written to: ${messageOf(error)}`;
      throw new ConfigError([`accessLog: file is "${this.#location}": ${expected}`]);
    }
    await site.protect(this.#location); // not before it is there, which tells where a link leads
    this.#sites.add(site);
  }

  add(line: string): void {
    if (!this.#handle || !this.#queue.push(line)) this.#failures.drop(1);
    else if (!this.#rest) this.#writing ??= this.#write();
  }

  /** What was logged before belongs into the old file, which may have another name by now. */
  async reopen(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#hasLines) await this.#writeBatch().catch(() => {}); // it stays, and is tried again in the new one
      await this.#reopen();
    });
    this.#wake();
  }

  async close(): Promise<void> {
    const isWritten = await isDoneInTime(this.#writeTheRest());
    clearTimeout(this.#rest);
    const handle = this.#handle;
    if (!handle) return;
    this.#handle = undefined;
    this.#opening = undefined;
    const lost = this.#queue.clear() + (this.#batch ? linesLeft(this.#batch) : 0);
    this.#batch = undefined;
    if (lost > 0) this.#failures.drop(lost);
    if (isWritten) await handle.close();
    else handle.close().catch(() => {}); // waits for a write that may never end; the lines are counted already
  }

  async #writeTheRest(): Promise<void> {
    do {
      this.#wake();
      await this.#writing;
    } while (this.#isSlowPipe && this.#hasLines && (await pause(slowPipeMs, true)));
    await this.#turn;
  }

  #open(): Promise<FileHandle> {
    return open(this.#location, flags, 0o640);
  }

  /** Runs tasks on the file one after the other. */
  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(task);
    this.#turn = result.catch(() => {}); // the caller gets the error
    return result;
  }

  async #write(): Promise<void> {
    await setImmediate(); // for the other lines of this turn of the event loop
    try {
      while (this.#hasLines) {
        await this.#inTurn(() => this.#writeBatch());
        await pause(this.#gatherMs);
      }
      this.#restMs = firstRestMs;
      this.#isSlowPipe = false;
      this.#failures.succeeded();
    } catch (error) {
      if (!this.#handle) return; // closed meanwhile, and what was not written is counted
      this.#isSlowPipe = errnoOf(error) === "EAGAIN"; // which is no failure
      if (this.#isSlowPipe) this.#restMs = slowPipeMs;
      else this.#failures.failed(`cannot write to ${this.#location}`, error);
      this.#rest = setTimeout(() => this.#tryAgain(), this.#restMs).unref();
      this.#restMs = Math.min(this.#restMs * 2, longestRestMs);
    } finally {
      this.#writing = undefined; // with no turn in between: a line that comes now begins anew
    }
  }

  async #writeBatch(): Promise<void> {
    if (performance.now() - this.#checkedAt >= checkEveryMs) await this.#checkIsThere();
    const handle = this.#handle;
    if (!handle || !this.#hasLines) return; // a reopening has written them meanwhile
    this.#batch ??= { ...this.#queue.take(), offset: 0 };
    const batch = this.#batch;
    while (batch.offset < batch.bytes.length) {
      // From where the last attempt broke off: a line that is half written already is not written twice.
      const { bytesWritten } = await handle.write(batch.bytes, batch.offset);
      batch.offset += bytesWritten;
    }
    this.#queue.release(batch);
    this.#batch = undefined;
  }

  async #checkIsThere(): Promise<void> {
    const stat = await this.#handle?.stat();
    if (stat?.nlink === 0) await this.#reopen();
    this.#checkedAt = performance.now();
  }

  async #reopen(): Promise<void> {
    const old = this.#handle;
    if (!old) return;
    const fresh = await this.#open();
    const isSame = await isSameFile(old, fresh).catch(() => false); // the old one is lost: `ESTALE`
    if (this.#handle !== old) return fresh.close(); // the log was closed meanwhile
    this.#handle = fresh;
    // A line that was begun in the old file stands whole in the new one.
    if (this.#batch && !isSame) this.#batch.offset = startOfLine(this.#batch);
    await old.close().catch((error) => this.#failures.failed(`cannot close the old ${this.#location}`, error));
    for (const site of this.#sites) await site.protect(this.#location);
  }

  /** The file may be back, or stand somewhere else now; if not, the old one may have become usable. */
  #tryAgain(): void {
    this.#inTurn(() => this.#reopen()).then(
      () => this.#wake(),
      () => this.#wake(),
    );
  }

  #wake(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    if (this.#hasLines) this.#writing ??= this.#write();
  }

  get #hasLines(): boolean {
    return this.#handle !== undefined && (this.#batch !== undefined || !this.#queue.isEmpty);
  }
}

async function isSameFile(one: FileHandle, other: FileHandle): Promise<boolean> {
  const [a, b] = await Promise.all([one.stat({ bigint: true }), other.stat({ bigint: true })]);
  return a.ino === b.ino && a.dev === b.dev;
}

function startOfLine({ bytes, offset }: { bytes: Buffer; offset: number }): number {
  return offset === 0 ? 0 : bytes.lastIndexOf("\n", offset - 1) + 1;
}

function linesLeft({ bytes, offset }: { bytes: Buffer; offset: number }): number {
  return bytes.toString("latin1", offset).split("\n").length - 1;
}
