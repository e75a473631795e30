import { StorageError, type StorageErrorCode } from "../storage.ts";
import type { Job, JobResult } from "./jobs.ts";
import { atOnce, inPool } from "./system-calls.ts";
import { programOf } from "./write-programs.ts";

/** What a job came to, as values that can be sent to another thread. */
export type SentResult = { readonly value: JobResult } | { readonly error: unknown };

/** An error, without what a copy would lose. */
interface SentError {
  readonly message: string;
  readonly storage: StorageErrorCode | undefined;
  readonly system: object;
}

export function resultsOf(jobs: readonly Job[]): Promise<readonly SentResult[]> {
  return Promise.all(jobs.map((job) => inPool(programOf(job), atOnce).then(sentValue, (e) => ({ error: sent(e) }))));
}

function sentValue(value: JobResult): SentResult {
  return { value: value.kind === "done" ? { ...value, problems: value.problems.map(sent) } : value };
}

function sent(error: unknown): SentError {
  const { message, code, errno, syscall } = error as NodeJS.ErrnoException; // what is missing is missing in the copy
  const storage = error instanceof StorageError ? error.code : undefined;
  return { message: String(message), storage, system: storage ? {} : { code, errno, syscall } };
}

/** The result, with errors as they were. */
export function received(result: SentResult): SentResult {
  if ("error" in result) return { error: errorOf(result.error) };
  const { value } = result;
  return { value: value.kind === "done" ? { ...value, problems: value.problems.map(errorOf) } : value };
}

function errorOf(error: unknown): unknown {
  const { message, storage, system } = error as SentError; // it comes from `sent`
  return storage ? new StorageError(storage, new Error(message)) : Object.assign(new Error(message), system);
}
