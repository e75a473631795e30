/** Settles as `work` does, or rejects with `problem` when that takes longer than `limitMs`. */
export async function inTime<T>(work: Promise<T>, limitMs: number, problem: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  // Not unref'd: with nothing else to do, the process would end in the middle of it, and say nothing.
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
