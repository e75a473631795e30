/**
 * Calls a function of the host program that nobody waits for. What it throws goes to `onFailure` and nowhere else; so does
 * the rejection of a promise, for an `async` function is easily given where a plain one was asked for.
 */
export function notify(call: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
