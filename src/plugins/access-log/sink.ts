import { inTime } from "../../event-loop/in-time.ts";
import type { Site } from "../../server/site.ts";
import type { AccessLogEntry } from "./entry.ts";

/** Where lines go. */
export interface Sink {
  /** Called for each host that lists the plugin. */
  start(site: Site): Promise<void>;
  /** Takes a line, or counts it as dropped. Never throws and never blocks. */
  add(line: string, entry: () => AccessLogEntry): void;
  reopen(): Promise<void>;
  /** Hands over what is queued, within {@link closeMs}, and releases what the sink has opened. */
  close(): Promise<void>;
}

/** Most bytes that wait for a slow file, stream or promise; lines beyond are dropped. */
export const maxQueuedBytes: number = 1024 * 1024;

/** How long a closing server waits for a log that does not write, in milliseconds. */
export const closeMs = 2_000;

/** Waits for work to be done, but not for ever; tells whether it was. */
export function isDoneInTime(work: Promise<unknown>): Promise<boolean> {
  return inTime(
    work.then(() => true),
    closeMs,
    () => false,
  );
}
