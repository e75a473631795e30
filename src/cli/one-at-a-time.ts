/** Wraps a task so that it never runs twice at the same time: calls during a run share one further run. */
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
      .catch(() => {}) // its caller gets the error
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
}
