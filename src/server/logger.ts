/** Where the library reports what it does; pino, winston and `console` have this shape. Silent by default. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => {};

/** Says nothing. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Calls a function of the host program without waiting for it. What it throws goes to `onFailure` and nowhere else; so
 * does the rejection of a promise, for an `async` function is easily given where a plain one was asked for.
 */
export function notify(call: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}

/** The message of what was thrown, which need not be an error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
