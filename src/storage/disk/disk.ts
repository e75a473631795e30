import type { Job, JobResult } from "./jobs.ts";
import type { DiskPaths } from "./paths.ts";

export interface Disk {
  readonly paths: DiskPaths;
  /** Whether reading changes nothing: a cut append is told of as if it had not begun. */
  readonly isReadOnly: boolean;
  /** Keep the process alive while changes wait for a lock, until the storage closes. */
  readonly alive: Set<NodeJS.Timeout>;
  /** Whether a change is on the disk itself, beyond a power failure, before it counts as made. */
  readonly sync: boolean;
  /** Does a job, as `DiskThread.run` does, and reports what went wrong after a change was made. */
  run(job: Job, late?: (error: unknown) => void): Promise<JobResult>;
  /** Lets watchers look at a file that is about to be changed: what others did to it is announced first. */
  callWitnesses(path: string): Promise<void>;
  /** Told of what went wrong after a change was made; the change stands. */
  report(problem: unknown): void;
}
