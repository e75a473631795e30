import { hash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errnoOf } from "./file-record.ts";

/** A live process adds to its temporary file, or is done with it, well within this time. */
export const abandonedAfterMs = 600_000;

// .filement-<machine>-<process id>-<random>.tmp; any case, since file systems may ignore it.
const temporaryName = /^\.filement-.*\.tmp$/i;
const temporarySegment = /\/\.filement-[^/]*\.tmp(?:\/|$)/i;
const uploadName = /^\.filement-([0-9a-f]{8})-(\d+)-[0-9a-f]+\.tmp$/;
const spareName = /^\.filement-spare-[0-9a-f]+\.tmp$/;
const noteName = /^\.filement-append-(\d+)\.tmp$/;

/** This run of the program, and how many temporary files it has made. */
const run = randomBytes(8).toString("hex");
let made = 0;

/** Whether a file name is kept for the server's own temporary files, which clients neither see nor write. */
export function isTemporaryName(name: string): boolean {
  return temporaryName.test(name);
}

/** Whether a request path leads to, or through, such a name. */
export function hasTemporaryName(path: string): boolean {
  return temporarySegment.test(path);
}

export function temporaryFileName(): string {
  made += 1;
  return `.filement-${machine()}-${process.pid}-${run}${made.toString(16)}.tmp`;
}

/** The name of an empty file that anyone may remove at any time. */
export function spareFileName(): string {
  made += 1;
  return `.filement-spare-${run}${made.toString(16)}.tmp`;
}

/** The name of the note about an append to the file of an inode: it is found by any name of the file. */
export function appendNoteName(inode: bigint): string {
  return `.filement-append-${inode}.tmp`;
}

export function isAppendNoteName(name: string): boolean {
  return noteName.test(name);
}

/** Whether a temporary file's process can no longer be at work: machines share directories, process ids come again. */
export function isAbandoned(name: string, modifiedMs: number): boolean {
  if (spareName.test(name)) return true;
  const [, madeOn, processId] = uploadName.exec(name) ?? [];
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

/**
 * Those among whom a process id means one process. Others may share the directory: another machine, or a container,
 * which has process ids of its own and perhaps the same host name.
 */
export function machineOf(host: string, installation: string, processNamespace: string): string {
  return hash("sha256", [host, installation, processNamespace].join("\n")).slice(0, 8);
}

let known: string | undefined;

function machine(): string {
  known ??= machineOf(
    orNothing(hostname) || run, // where the runtime does not tell, this run is a machine of its own
    // Until it is started again: process ids begin anew then.
    orNothing(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")),
    orNothing(() => readlinkSync("/proc/self/ns/pid")),
  );
  return known;
}

/** What only Linux has, and not everywhere, or what the runtime does not tell. */
function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
