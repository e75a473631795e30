import { emitWarning } from "node:process";
import { isPromise } from "node:util/types";

/** Where the library reports what it does; pino, winston and `console` have this shape. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => {};

/** Reports only the first error, as a warning of the process: it says why a server that cannot start answers 500. */
export function quietLogger(): Logger {
  let isFirst = true;
  const error = (fields: { readonly err?: unknown }, message: string): void => {
    const detail = "The options logger and onError tell of all failures.";
    const cause = "err" in fields ? `: ${messageOf(fields.err)}` : "";
    if (isFirst) emitWarning(`${message}${cause}`, { type: "FilementWarning", detail });
    isFirst = false;
  };
  return { debug: ignore, info: ignore, warn: ignore, error };
}

/** Whether a logger drops what is not an error. */
export function isQuiet({ info }: Logger): boolean {
  return info === ignore;
}

/**
 * Calls a function of the host program without waiting for it. What it throws goes to `onFailure` and nowhere else; so
 * does the rejection of a promise, for an `async` function is easily given where a plain one was asked for.
 */
export function notify(call: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    const result = call();
    if (isPromise(result)) result.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}

/** The message of what was thrown, which need not be an error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
