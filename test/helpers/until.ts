/** Waits for something to be so, at each turn of the event loop: also where the timers are not real. */
export async function until(isSo: () => unknown): Promise<void> {
  while (!(await isSo())) await new Promise(setImmediate);
}
