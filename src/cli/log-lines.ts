import { inspect } from "node:util";
import type { Logger } from "../server/logger.ts";

export type LogFormat = "text" | "json";

export interface LogLinesOptions {
  /** `"text"`: the level, the message, and the fields as JSON. `"json"`: one object a line, with the time. */
  readonly logFormat: LogFormat;
  readonly verbose: boolean;
}

/** The log of the command: what the library says, and what its operator has to know in any case. */
export interface OperatorLog extends Logger {
  notice(message: string): void;
  fatal(message: string): void;
}

type Level = "info" | "notice" | "warning" | "error" | "fatal";

/** A log in which text of clients and files cannot begin a line of its own. */
export function logLines(write: (line: string) => void, { logFormat, verbose }: LogLinesOptions): OperatorLog {
  const form = logFormat === "json" ? jsonLine : textLine;
  const line = (level: Level) => (fields: object, message: string) => write(`${form(level, message, fields)}\n`);
  const silent = (): void => {};
  return {
    debug: silent,
    info: verbose ? line("info") : silent,
    warn: line("warning"),
    error: line("error"),
    notice: (message) => line("notice")({}, message),
    fatal: (message) => line("fatal")({}, message),
  };
}

function textLine(level: Level, message: string, fields: object): string {
  const begin = level === "notice" || level === "fatal" ? "filement" : level;
  const details = Object.keys(fields).length === 0 ? "" : ` ${inJson(fields)}`;
  return `${begin}: ${printable(message)}${details}`;
}

function jsonLine(level: Level, message: string, fields: object): string {
  const own = { time: new Date().toISOString(), level, message };
  return inJson({ ...own, ...fields, ...own }); // ours come first, and no field takes their place
}

function inJson(fields: object): string {
  // JSON has no words for these. `inspect` tells an error's causes as well.
  const asText = (_key: string, value: unknown): unknown =>
    value instanceof Error ? inspect(value) : typeof value === "bigint" ? String(value) : value;
  try {
    return printable(JSON.stringify(fields, asText));
  } catch {
    return printable(JSON.stringify({ fields: inspect(fields) })); // it holds itself, or cannot be looked at
  }
}

/** Control characters steer a terminal, and separators may end a line for a reader. JSON leaves some of them. */
function printable(text: string): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]/g, escaped);
}
