// The thread of a disk, which `disk-thread.ts` starts as a worker: it is sent jobs, and sends what they came to.
import { parentPort } from "node:worker_threads";
import { resultsOf, type ThreadMessage } from "./disk-thread.ts";
import type { Job } from "./jobs.ts";
import { keepSpares } from "./spare-files.ts";

const send = (message: ThreadMessage): void => parentPort?.postMessage(message);

keepSpares();
parentPort?.on("message", async (jobs: readonly Job[]) => {
  let goOn = (): void => {};
  const isSent = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  send(await resultsOf(jobs, isSent));
  goOn();
});
send(undefined);
