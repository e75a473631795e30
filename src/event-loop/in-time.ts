/** Settles as `work` does, or as `late` does where the work takes longer than `limitMs`. */
export async function inTime<T>(work: Promise<T>, limitMs: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  // Not unref'd: with nothing else to do, the process would end in the middle of the work without a word.
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    return await Promise.race([work, limit.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Settles as `work` does, or rejects with `problem` where the work takes longer than `limitMs`. */
export function doneInTime<T>(work: Promise<T>, limitMs: number, problem: string): Promise<T> {
  return inTime(work, limitMs, () => {
    throw new Error(problem);
  });
}
