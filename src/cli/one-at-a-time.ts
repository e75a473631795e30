/** Runs a task whenever it is asked to, never twice at the same time: what comes meanwhile makes one more run. */
export function oneAtATime(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = (): Promise<void> => {
    running = task().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (!running) return run();
    next ??= running
      .catch(() => {}) // whoever asked for that run was told
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
}
