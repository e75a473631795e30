import type { Writable } from "node:stream";
import { ConfigError } from "../../config.ts";
import { type Batch, LineQueue } from "./line-queue.ts";
import type { LogFailures } from "./log-failures.ts";
import { isDoneInTime, type Sink } from "./sink.ts";

/** What this needs of a stream: logging libraries have some that only look like one of node's. */
export type LogStream = Pick<Writable, "write" | "on" | "off"> & Partial<Pick<Writable, "writable" | "writableLength">>;

/** Writes lines to a stream of the host program, as fast as that takes them. */
export class StreamSink implements Sink {
  readonly #stream: LogStream;
  readonly #queue: LineQueue;
  readonly #failures: LogFailures;
  #isOpen = false;
  /** Its `write` returned false, and "drain" has not come yet. */
  #isFull = false;
  #flushing: NodeJS.Immediate | undefined;
  /** Lines that the stream has, and has not called back for. */
  #underWay = 0;
  #settled: (() => void) | undefined;

  constructor(stream: LogStream, maxQueuedBytes: number, failures: LogFailures) {
    this.#stream = stream;
    this.#queue = new LineQueue(maxQueuedBytes);
    this.#failures = failures;
  }

  async start(): Promise<void> {
    if (this.#isOpen) return;
    if (this.#stream.writable === false) {
      throw new ConfigError(["accessLog: stream is ended or destroyed: expected one that can be written to"]);
    }
    this.#isOpen = true;
    this.#stream.on("error", this.#onError).on("close", this.#onClose).on("drain", this.#onDrain);
  }

  add(line: string): void {
    if (!this.#isOpen || !this.#queue.push(line)) this.#failures.drop(1);
    // All lines of one turn of the event loop together: to a terminal or a pipe each write is a system call.
    else if (!this.#isFull) this.#flushing ??= setImmediate(this.#flush);
  }

  async reopen(): Promise<void> {}

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#flush();
    const isWritten = await isDoneInTime(this.#allWritten());
    this.#stream.off("close", this.#onClose).off("drain", this.#onDrain);
    // A write that is still in the stream may fail later. Without a listener, that error would end the process.
    if (isWritten) this.#stream.off("error", this.#onError);
    this.#giveUp();
  }

  readonly #flush = (): void => {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    if (!this.#isOpen || this.#isFull || this.#queue.isEmpty) return;
    // Its owner has ended it. Writing on would be an error of the stream, for all of its listeners.
    if (this.#stream.writable === false) {
      this.#onClose();
      return;
    }
    const batch = this.#queue.take();
    this.#queue.release(batch); // the stream's own buffer is the stream's to limit
    if (this.#callsBack) this.#underWay += batch.lines;
    try {
      this.#isFull = this.#stream.write(batch.bytes, (error) => this.#onWritten(batch, error)) === false;
    } catch (error) {
      this.#onWritten(batch, error);
    }
  };

  #onWritten({ lines }: Batch, error: unknown): void {
    if (!this.#isOpen) return; // and the lines are counted
    if (this.#callsBack) this.#underWay -= lines;
    if (error) {
      this.#onError(error);
      this.#failures.drop(lines);
    } else this.#failures.succeeded();
    if (this.#isDone) this.#settled?.();
  }

  readonly #onDrain = (): void => {
    this.#isFull = false;
    this.#flush();
    if (this.#isDone) this.#settled?.();
  };

  readonly #onError = (error: unknown): void => this.#failures.failed("its stream failed", error);

  readonly #onClose = (): void => {
    this.#failures.failed("its stream failed", new Error("it ended before the server did"));
    this.#giveUp();
    this.#settled?.();
  };

  #giveUp(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    // A stream that is destroyed in the middle of a write does not call back for that.
    const lost = this.#queue.clear() + this.#underWay;
    this.#underWay = 0;
    this.#isOpen = false;
    if (lost > 0) this.#failures.drop(lost);
  }

  /** A stream that is not node's, which is seen by that it has no length, may not call back. */
  get #callsBack(): boolean {
    return this.#stream.writableLength !== undefined;
  }

  get #isDone(): boolean {
    return !this.#isOpen || (this.#queue.isEmpty && this.#underWay === 0);
  }

  #allWritten(): Promise<void> {
    return new Promise((resolve) => {
      this.#settled = resolve;
      if (this.#isDone) resolve();
    });
  }
}
