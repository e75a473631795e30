import { constants, open } from "node:fs";
import { promisify } from "node:util";
import type { SonicBoom } from "sonic-boom";
import { ConfigError } from "../../config.ts";
import { messageOf } from "../../server/logger.ts";
import type { Site } from "../../server/site.ts";
import { isDoneInTime, type LogFailures, maxQueuedBytes, type Output } from "./output.ts";

// Not blocking: a named pipe without a reader must neither delay the start nor occupy a pool thread for ever.
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

const standardStreams: Readonly<Record<string, number>> = { "/dev/stdout": 1, "/dev/stderr": 2 };

/** Appends lines to a file, as many at a time as have come since the last write began. */
export function fileOutput(location: string, failures: LogFailures): Output {
  const sites = new Set<Site>();
  let opening: Promise<SonicBoom> | undefined;
  let log: SonicBoom | undefined;

  async function openLog(): Promise<SonicBoom> {
    const { default: sonicBoom } = await import("sonic-boom");
    // Open already: a socket under systemd, or another user's, could not be opened again.
    const fd = standardStreams[location] ?? (await promisify(open)(location, flags, 0o640));
    const output = new sonicBoom.SonicBoom({ fd, maxLength: maxQueuedBytes });
    output.on("write", () => failures.succeeded());
    output.on("drop", () => failures.drop(1));
    // Its lines stay, and are tried again with the next one.
    output.on("error", (error) => failures.failed(`cannot write to ${location}`, error));
    return output;
  }

  /** Writes what is left, as far as that works in time, and closes the file. */
  async function end(output: SonicBoom): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      output.once("close", resolve).once("error", () => resolve());
    });
    output.end();
    if (!(await isDoneInTime(ended))) failures.failed(`cannot write to ${location}`, "it took too long to end");
    output.destroy();
  }

  return {
    async start(site) {
      opening ??= openLog();
      try {
        log = await opening;
      } catch (error) {
        const expected = `expected one that can be written to: ${messageOf(error)}`;
        throw new ConfigError([`accessLog: file is "${location}": ${expected}`]);
      }
      await site.protect(location); // not before it is there, which tells where a link leads
      sites.add(site);
    },
    add(line) {
      if (!log) return failures.drop(1);
      log.write(`${line}\n`);
    },
    /** What was logged before goes to the end of the old file, which may have another name by now. */
    async reopen() {
      const old = log;
      if (!old) return;
      const fresh = await openLog();
      const isCurrent = log === old; // else it was closed meanwhile
      if (isCurrent) log = fresh;
      await end(isCurrent ? old : fresh);
      for (const site of isCurrent ? sites : []) await site.protect(location);
    },
    async close() {
      const last = log;
      log = undefined;
      opening = undefined;
      if (last) await end(last);
    },
  };
}
