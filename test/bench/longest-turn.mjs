// How long the thread that runs the event loop is busy in one turn of it.
import { readFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";

const nobody = new Int32Array(new SharedArrayBuffer(4));

/** The longest turn while some work is done, in milliseconds of the processor. @param {() => Promise<void>} work */
export async function longestTurn(work) {
  let isOver = false;
  let longest = 0;
  const done = work().finally(() => {
    isOver = true;
  });
  for (let last = processorMs(); !isOver; last = processorMs()) {
    await turn();
    longest = Math.max(longest, processorMs() - last);
  }
  await done;
  return longest;
}

/** Time of the processor that this thread has had; neither other programs nor other threads add to it. */
export function processorMs() {
  Atomics.wait(nobody, 0, 0, 0.001); // the system adds up when a thread stops, and otherwise every few milliseconds
  return Number(readFileSync("/proc/thread-self/schedstat", "latin1").split(" ", 1)[0]) / 1e6;
}
