import { isUint8Array } from "node:util/types";
import { Worker } from "node:worker_threads";
import { StorageError, type StorageErrorCode } from "../storage.ts";
import { Elsewhere } from "./directory.ts";
import type { Job, JobResult } from "./jobs.ts";
import { atOnce, inPool, type SystemCall } from "./system-calls.ts";
import { programOf } from "./write-programs.ts";

/** Content beyond this is not worth a copy: its calls are made by way of Node's thread pool. */
const maxSentBytes = 1024 * 1024;
/**
 * Most jobs of a batch, and bytes of content after which it takes no more: the first of a batch waits for the last,
 * and while all requests wait for one batch, the thread that serves them has nothing to do.
 */
const maxBatch = 8;
const maxBatchBytes = 2 * 1024 * 1024;
/** How long the thread may be at work on a batch; then its disk counts as away. */
const patienceMs = 30_000;
const memory = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };

interface Waiting {
  readonly job: Job;
  readonly resolve: (result: JobResult) => void;
  readonly reject: (error: unknown) => void;
  /** Told where it is not known when, or whether, the job will end. */
  readonly late: (error: unknown) => void;
}

/**
 * A thread that makes the system calls of whole jobs: one trip there and back for each, where each call would be one by
 * way of Node's thread pool. What comes while it works is its next batch. Started when first needed, and again after it
 * has died; until it runs, and where there are no threads, the same calls go by way of the pool.
 */
export class DiskThread {
  #worker: Worker | undefined;
  #state: "none" | "starting" | "ready" | "ended" = "none";
  #waiting: Waiting[] = [];
  #underWay: readonly Waiting[] = [];
  #isStuck = false;
  #watch: NodeJS.Timeout | undefined;

  /** Does a job. `late` is called where that takes long, or the thread dies; then the promise settles at the end. */
  run(job: Job, late: (error: unknown) => void = () => {}): Promise<JobResult> {
    if (bytesOf(job) > maxSentBytes) return inPool(programOf(job));
    if (this.#state === "none") this.#start();
    if (this.#state !== "ready") return inPool(programOf(job));
    if (this.#isStuck) return Promise.reject(silence("unavailable"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject, late });
      if (this.#underWay.length === 0) this.#send();
    });
  }

  /** Has the thread remove its spare files, if it runs. Never rejects. */
  async removeSpares(directory: string): Promise<void> {
    if (this.#state === "ready") await this.run({ kind: "remove-spares", directory, name: "" }).catch(() => {});
  }

  #start(): void {
    this.#state = "starting";
    try {
      // Without the options of the program around: its loaders and hooks are not for this thread.
      const worker = new Worker(new URL("./write-thread.js", import.meta.url), {
        name: "filement",
        execArgv: [],
        resourceLimits: memory,
      });
      worker.unref();
      worker.on("message", (results) => this.#received(results));
      worker.on("error", () => {}); // it ends then
      worker.on("exit", () => this.#ended());
      this.#worker = worker;
    } catch {
      this.#state = "ended"; // no threads, or no file for ours: not allowed, or part of a bundle
    }
  }

  #send(): void {
    let bytes = 0;
    let count = 0;
    for (const { job } of this.#waiting) {
      if (count >= maxBatch || bytes >= maxBatchBytes) break;
      bytes += bytesOf(job);
      count += 1;
    }
    this.#underWay = this.#waiting.splice(0, count);
    clearTimeout(this.#watch);
    if (count === 0) return void this.#worker?.unref();
    this.#worker?.ref();
    this.#watch = setTimeout(() => this.#giveUp(), patienceMs).unref();
    this.#worker?.postMessage(this.#underWay.map(({ job }) => exact(job)));
  }

  /** The first message says that the thread runs. */
  #received(results: ThreadMessage): void {
    const underWay = this.#underWay;
    this.#state = "ready";
    this.#isStuck = false;
    this.#send();
    const outcomes = (results ?? []).map(received);
    for (const [i, { resolve, reject }] of underWay.entries()) {
      const outcome = outcomes[i];
      if (outcome && "value" in outcome) resolve(outcome.value);
      else reject(outcome?.error);
    }
  }

  #giveUp(): void {
    this.#isStuck = true;
    for (const { late } of this.#underWay) late(silence("outcome-unknown"));
    for (const { reject } of this.#waiting.splice(0)) reject(silence("unavailable"));
  }

  #ended(): void {
    const [underWay, waiting] = [this.#underWay, this.#waiting.splice(0)];
    // One that ran is replaced when it is needed; one that never did would not run the next time either.
    this.#state = this.#state === "ready" ? "none" : "ended";
    this.#isStuck = false;
    this.#underWay = [];
    clearTimeout(this.#watch);
    for (const { late, reject } of underWay) {
      late(silence("outcome-unknown")); // made or not: the thread cannot say
      reject(silence("outcome-unknown"));
    }
    for (const { job, resolve, reject } of waiting) inPool(programOf(job)).then(resolve, reject);
  }
}

function silence(code: "outcome-unknown" | "unavailable"): StorageError {
  return new StorageError(code, new Error("the disk has not answered"));
}

/** How many bytes are to be sent; content in a file is not. */
function bytesOf(job: Job): number {
  if (!("content" in job)) return 0;
  return "temporary" in job.content ? Number.POSITIVE_INFINITY : job.content.byteLength;
}

/** The job with no more content than its own: a message takes along all memory that a `Uint8Array` is a part of. */
function exact(job: Job): Job {
  if (!("content" in job) || !isUint8Array(job.content)) return job;
  const { content } = job;
  return content.byteLength === content.buffer.byteLength ? job : { ...job, content: new Uint8Array(content) };
}

const threads = new Map<number, DiskThread>();

/** The thread of a device: a disk that is away holds up no other. */
export function threadOf(device: number): DiskThread {
  const thread = threads.get(device) ?? new DiskThread();
  threads.set(device, thread);
  return thread;
}

/** What a job came to, as values that can be sent to another thread. */
type SentResult = { readonly value: JobResult } | { readonly error: unknown };

/** What the thread sends: once, that it runs; then results. */
export type ThreadMessage = readonly SentResult[] | undefined;

/** An error, without what a copy would lose. */
interface SentError {
  readonly message: string;
  readonly storage: StorageErrorCode | undefined;
  readonly system: object;
}

/** Does jobs in the thread. What a job does after its answer waits for `isSent`. */
export function resultsOf(
  jobs: readonly Job[],
  isSent: Promise<void> = Promise.resolve(),
): Promise<readonly SentResult[]> {
  const resultOf = (job: Job): Promise<SentResult> =>
    new Promise((resolve) => {
      const make = (asked: SystemCall): unknown => {
        if (asked.name !== "answer") return atOnce(asked);
        resolve(sentValue(asked.values[0] as JobResult));
        return isSent;
      };
      inPool(programOf(job), make).then(
        (value) => resolve(sentValue(value)),
        (error) => resolve({ error: sent(error) }),
      );
    });
  return Promise.all(jobs.map(resultOf));
}

function sentValue(value: JobResult): SentResult {
  return { value: value.problems.length > 0 ? { ...value, problems: value.problems.map(sent) } : value };
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
  return value.problems.length > 0 ? { value: { ...value, problems: value.problems.map(errorOf) } } : result;
}

function errorOf(error: unknown): unknown {
  const { message, storage, system } = error as SentError; // it comes from `sent`
  if (storage === "conflict") return new Elsewhere(); // no other conflict is found out in the thread
  return storage ? new StorageError(storage, new Error(message)) : Object.assign(new Error(message), system);
}
