import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { ConfigError, checkOptions } from "../../config.ts";

const isStream = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  ["write", "on", "off"].every((name) => typeof Reflect.get(value, name) === "function");

const location = "the path or the file:// URL of a file on this computer";

/** What the options of `accessLog` are checked against. */
export const accessLogOptions: z.ZodType = z
  .strictObject(
    {
      format: z.union(
        [z.enum(["common", "combined", "json"]), z.custom((value) => typeof value === "function")],
        '"common", "combined", "json" or a function',
      ),
      // Not more: what a configuration file has here may be relative to that file.
      file: z.custom((value) => value instanceof URL || (typeof value === "string" && value !== ""), location),
      stream: z.custom(isStream, "a stream to write to"),
      write: z.custom((value) => typeof value === "function", "a function"),
      maxQueuedBytes: z.int("a positive integer").positive("a positive integer"),
    },
    "an object of options",
  )
  .partial();

/** Throws a `ConfigError` that names everything that is wrong. */
export function checkAccessLogOptions(options: object): void {
  checkOptions("accessLog", accessLogOptions, options);
  const outputs = ["file", "stream", "write"].filter((name) => Reflect.get(options, name) !== undefined);
  if (outputs.length > 1) throw new ConfigError([`accessLog: has ${outputs.join(" and ")}: expected one of them`]);
}

/** The absolute path that a location means. Throws a `ConfigError` for one that names no file of this computer. */
export function locationOf(file: string | URL): string {
  const given = String(file);
  const isPath = typeof file === "string" && !/^(?:file:|[a-z][a-z\d+.-]+:\/\/)/i.test(file); // `C:\a.log` is a path
  if (isPath && !file.includes("\0")) return resolve(file);
  try {
    // `file:a.log` and `file://a.log` look relative, but mean `/a.log` and a host of that name.
    if (/^file:\/\/(?:localhost)?\//i.test(given)) return fileURLToPath(given);
  } catch {
    // An escaped slash, or a malformed escape: said below.
  }
  throw new ConfigError([`accessLog: file is ${JSON.stringify(given)}: expected ${location}`]);
}
