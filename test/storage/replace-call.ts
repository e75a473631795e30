import fs from "node:fs";
import { onTestFinished } from "vitest";

/** A function of `node:fs` with a callback, as programs of system calls use it. */
export type Call = (...values: unknown[]) => void;

/** Has `replacement` called in place of a system call; it is given the call itself. */
export function replaceCall(name: string, replacement: (original: Call, values: unknown[]) => void): void {
  const calls = fs as unknown as Record<string, Call>;
  const original = calls[name] as Call;
  calls[name] = (...values) => replacement(original, values);
  onTestFinished(() => void Object.assign(calls, { [name]: original }));
}
