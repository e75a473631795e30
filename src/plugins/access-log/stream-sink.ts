import type { Writable } from "node:stream";
import { ConfigError } from "../../config.ts";
import { FunctionSink } from "./function-sink.ts";
import type { LogFailures } from "./log-failures.ts";

/** What this needs of a stream: logging libraries have some that only look like one of node's. */
export type LogStream = Pick<Writable, "write" | "on" | "off"> & Partial<Pick<Writable, "writable" | "writableLength">>;

const failed = "its stream failed";

/** Writes lines to a stream of the host program, which keeps them until it can. */
export class StreamSink extends FunctionSink {
  readonly #stream: LogStream;
  #isOpen = false;
  /** Called when the stream has closed: it does not call back for a write that this broke off. */
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(stream: LogStream, failures: LogFailures, maxBytes?: number) {
    super((line) => this.#write(`${line}\n`), failures, maxBytes, failed);
    this.#stream = stream;
  }

  override async start(): Promise<void> {
    if (this.#isOpen) return;
    if (this.#stream.writable === false) {
      throw new ConfigError(["accessLog: stream is ended or destroyed: expected one that can be written to"]);
    }
    this.#isOpen = true;
    this.#stream.on("error", this.#onError).on("close", this.#onClose);
  }

  override async close(): Promise<void> {
    await super.close();
    this.#isOpen = false;
    this.#stream.off("close", this.#onClose);
    // A write that is still in the stream may fail later. Without a listener, that error would end the process.
    if (this.#waiting.size === 0) this.#stream.off("error", this.#onError);
  }

  #write(line: string): Promise<void> | undefined {
    // Its owner has ended it. Writing on would be an error of the stream, for all of its listeners.
    if (this.#stream.writable === false || !this.#isOpen) throw new Error("it ended before the server did");
    if (this.#stream.writableLength === undefined) {
      this.#stream.write(line); // not one of node's: it may not call back
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      this.#stream.write(line, (error) => {
        this.#waiting.delete(reject);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  readonly #onError = (error: unknown): void => this.failures.failed(failed, error);

  readonly #onClose = (): void => {
    for (const reject of this.#waiting) reject(new Error("it ended before the server did"));
    this.#waiting.clear();
  };
}
