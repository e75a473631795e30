import { createHash, randomBytes } from "node:crypto";
import { constants, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Content } from "../storage.ts";
import { isAppendNoteName } from "./append-note.ts";
import { type Directory, openIn } from "./directory.ts";
import { attempted, writeAll } from "./file-calls.ts";
import { errnoOf } from "./file-record.ts";
import { call, inPool } from "./system-calls.ts";

/** A live process adds to its temporary file, or is done with it, well within this time. */
export const abandonedAfterMs = 600_000;

// .filement-<machine>-<process id>-<random>.tmp; any case, since file systems may ignore it.
const temporaryName = /^\.filement-.*\.tmp$/i;
const temporarySegment = /\/\.filement-[^/]*\.tmp(?:\/|$)/i;
const ownName = /^\.filement-([0-9a-f]{8})-(\d+)-[0-9a-f]+\.tmp$/;

/**
 * Those among whom a process id means one process. Others may share the directory: another machine, or a container,
 * which has process ids of its own and perhaps the same host name.
 */
export function machineOf(host: string, installation: string, processNamespace: string): string {
  return createHash("sha256").update([host, installation, processNamespace].join("\n")).digest("hex").slice(0, 8);
}

let known: string | undefined;

function machine(): string {
  known ??= machineOf(
    orNothing(hostname) || run, // where the runtime does not tell, this run is a machine of its own
    // Until it is started again: process ids begin anew then.
    orNothing(
      () => readFileSync("/etc/machine-id", "latin1") + readFileSync("/proc/sys/kernel/random/boot_id", "latin1"),
    ),
    orNothing(() => readlinkSync("/proc/self/ns/pid")),
  );
  return known;
}

/** This run of the program, and how many temporary files it has made. */
const run = randomBytes(8).toString("hex");
let made = 0;

/** What only Linux has, and not everywhere, or what the runtime does not tell. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** Whether a file name is kept for the server's own temporary files, which clients neither see nor write. */
export function isTemporaryName(name: string): boolean {
  return temporaryName.test(name);
}

/** Whether a request path leads to, or through, such a name. */
export function hasTemporaryName(path: string): boolean {
  return temporarySegment.test(path);
}

/** Whether a name is one that servers give to their temporary files, notes about appends among them. */
export function isOwnName(name: string): boolean {
  return ownName.test(name) || isAppendNoteName(name);
}

/**
 * Whether the process that made a temporary file can no longer be at work on it. Several processes and machines may
 * share a directory, and process ids are used again.
 */
export function isAbandoned(name: string, modifiedMs: number): boolean {
  const [, madeOn, processId] = ownName.exec(name) ?? [];
  if (madeOn === undefined) return false;
  // By its time only where nothing else tells: a clock can be set, and a process can rest for long.
  if (madeOn !== machine()) return modifiedMs < Date.now() - abandonedAfterMs;
  if (Number(processId) !== process.pid) return !isAlive(Number(processId));
  // Our own id, but from before we started: it is used again.
  return !name.includes(`-${run}`) && modifiedMs < Date.now() - process.uptime() * 1000;
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return errnoOf(error) !== "ESRCH"; // alive, under another user, or the runtime does not tell
  }
}

export function temporaryFileName(): string {
  made += 1;
  return `.filement-${machine()}-${process.pid}-${run}${made.toString(16)}.tmp`;
}

export class TemporaryFile {
  readonly path: string;
  readonly file: number;
  #isOpen = true;

  private constructor(path: string, file: number) {
    this.path = path;
    this.file = file;
  }

  /**
   * Makes an empty one. In the target's own directory, so that it can be renamed and takes space where it will; the
   * directory is to stay open for as long as the file.
   */
  static async create(directory: Directory, mode = 0o600): Promise<TemporaryFile> {
    const name = temporaryFileName();
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    return new TemporaryFile(directory.at(name), await inPool(openIn(directory, name, flags, mode)));
  }

  async receive(content: Content | Iterable<Uint8Array>): Promise<number> {
    let length = 0;
    for await (const piece of content) {
      await inPool(writeAll(this.file, piece, null));
      length += piece.byteLength;
    }
    return length;
  }

  /**
   * Closes it, and removes it where it still has its name. Harmless when called twice, and never rejects: what was to
   * be done is done or has failed already, and nobody sees what stays until the next start.
   */
  async remove(): Promise<void> {
    if (this.#isOpen) await inPool(attempted(call.close(this.file)));
    this.#isOpen = false;
    await inPool(attempted(call.unlink(this.path)));
  }
}
