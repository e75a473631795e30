import { z } from "zod";
import { ConfigError } from "../../config.ts";
import { expectedLocation, filePath } from "../../local-files/file-path.ts";
import { checkOptions } from "../../options/check-config.ts";

const isStream = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  ["write", "on", "off"].every((name) => typeof Reflect.get(value, name) === "function");

/** What the options of `accessLog` are checked against. */
export const accessLogOptions: z.ZodType = z
  .strictObject(
    {
      format: z.union(
        [z.enum(["common", "combined", "json"]), z.custom((value) => typeof value === "function")],
        '"common", "combined", "json" or a function',
      ),
      file: z.custom(
        (value) => (typeof value === "string" || value instanceof URL) && filePath(String(value)) !== undefined,
        expectedLocation,
      ),
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
