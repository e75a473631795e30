import { type BigIntStats, constants } from "node:fs";
import { errnoOf, meansAbsent } from "./file-record.ts";
import { call, type Program } from "./system-calls.ts";

/** What has become a link is not followed, and opening a FIFO without a writer must not hang. */
export const guardFlags: number = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens what lies at a real location; `undefined` where there is nothing, or a link. */
export function* openIfThere(location: string, access: number): Program<number | undefined> {
  try {
    return yield* call.open(location, access | guardFlags);
  } catch (error) {
    if (meansAbsent(error)) return undefined;
    throw error;
  }
}

export function* recordAt(location: string): Program<BigIntStats | undefined> {
  try {
    return yield* call.lstat(location, { bigint: true });
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes all of some bytes: from a position on, or to the end of a file that was opened for that. */
export function* writeAll(file: number, bytes: Uint8Array, position: number | null): Program<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    const at = position === null ? null : position + written;
    written += yield* call.write(file, bytes, written, bytes.byteLength - written, at);
  }
}

export function* readInto(file: number, memory: Uint8Array, position: number): Program<number> {
  let length = 0;
  while (length < memory.byteLength) {
    const more = yield* call.read(file, memory, length, memory.byteLength - length, position + length);
    if (more === 0) break;
    length += more;
  }
  return length;
}

/** Whether something was done that may fail without anything being wrong. */
export function* attempted(program: Program<void>): Program<boolean> {
  return (yield* unlessFailed(program, "failed")) !== "failed";
}

export function* unlessFailed<Result, Other>(program: Program<Result>, otherwise: Other): Program<Result | Other> {
  try {
    return yield* program;
  } catch {
    return otherwise;
  }
}
