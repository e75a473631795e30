import { constants, open } from "node:fs";
import { promisify } from "node:util";
import type { SonicBoom } from "sonic-boom";
import { ConfigError } from "../../config.ts";
import { messageOf } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";
import type { LogFailures } from "./log-failures.ts";
import { isDoneInTime, maxQueuedBytes, type Sink } from "./sink.ts";

// Not blocking: a named pipe without a reader must neither delay the start nor occupy a pool thread for ever.
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

const standardStreams: Readonly<Record<string, number>> = { "/dev/stdout": 1, "/dev/stderr": 2 };

/** An open file, and the bytes of each line that it does not have yet. */
interface OpenLog {
  readonly output: SonicBoom;
  readonly left: number[];
}

/** Appends lines to a file, as many at a time as have come since the last write began. */
export class FileSink implements Sink {
  readonly #location: string;
  readonly #failures: LogFailures;
  readonly #maxBytes: number;
  readonly #sites = new Set<Site>();
  #opening: Promise<OpenLog> | undefined;
  #log: OpenLog | undefined;

  constructor(location: string, failures: LogFailures, maxBytes: number = maxQueuedBytes) {
    this.#location = location;
    this.#failures = failures;
    this.#maxBytes = maxBytes;
  }

  async start(site: Site): Promise<void> {
    this.#opening ??= this.#open();
    try {
      this.#log = await this.#opening;
    } catch (error) {
      const expected = `expected one that can be written to: ${messageOf(error)}`;
      throw new ConfigError([`accessLog: file is "${this.#location}": ${expected}`]);
    }
    await site.protect(this.#location); // not before it is there, which tells where a link leads
    this.#sites.add(site);
  }

  add(line: string): void {
    const { output, left } = this.#log ?? {};
    left?.push(Buffer.byteLength(line) + 1);
    if (output) output.write(`${line}\n`);
    else this.#failures.drop(1);
  }

  /** What was logged before goes to the end of the old file, which may have another name by now. */
  async reopen(): Promise<void> {
    const old = this.#log;
    if (!old) return;
    const fresh = await this.#open();
    const isCurrent = this.#log === old; // else it was closed meanwhile
    if (isCurrent) this.#log = fresh;
    await this.#end(isCurrent ? old : fresh);
    for (const site of isCurrent ? this.#sites : []) await site.protect(this.#location);
  }

  async close(): Promise<void> {
    const log = this.#log;
    this.#log = undefined;
    this.#opening = undefined;
    if (log) await this.#end(log);
  }

  async #open(): Promise<OpenLog> {
    const { default: sonicBoom } = await import("sonic-boom");
    // Open already: a socket under systemd, or another user's, could not be opened again.
    const fd = standardStreams[this.#location] ?? (await promisify(open)(this.#location, flags, 0o640));
    const output = new sonicBoom.SonicBoom({ fd, maxLength: this.#maxBytes });
    const left: number[] = [];
    let written = 0;
    output.on("write", (bytes) => {
      written += bytes;
      while (left[0] !== undefined && left[0] <= written) written -= left.shift() ?? 0;
      this.#failures.succeeded();
    });
    output.on("drop", () => {
      left.pop();
      this.#failures.drop(1);
    });
    // Its lines stay, and are tried again with the next one.
    output.on("error", (error) => this.#failures.failed(`cannot write to ${this.#location}`, error));
    return { output, left };
  }

  /** Writes what is left, as far as that works in time, and closes the file. */
  async #end({ output, left }: OpenLog): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      output.once("close", resolve).once("error", () => resolve());
    });
    output.end();
    await isDoneInTime(ended);
    if (left.length > 0) this.#failures.drop(left.length);
    output.destroy();
  }
}
