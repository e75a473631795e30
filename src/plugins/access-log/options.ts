import { z } from "zod";
import { ConfigError } from "../../config.ts";
import { checkOptions } from "../../options/check-config.ts";
import { aFunction, fileLocation, hasMethods, pluginOptions, positiveInteger } from "../../options/option-types.ts";

/** What the options of `accessLog` are checked against. */
export const accessLogOptions: z.ZodType = pluginOptions({
  format: z.union([z.enum(["common", "combined", "json"]), aFunction], '"common", "combined", "json" or a function'),
  file: fileLocation,
  stream: z.custom(hasMethods("write", "on", "off"), "a stream to write to"),
  write: aFunction,
  maxQueuedBytes: positiveInteger,
});

/** Throws a `ConfigError` that names everything that is wrong. */
export function checkAccessLogOptions(options: object): void {
  checkOptions("accessLog", accessLogOptions, options);
  const outputs = ["file", "stream", "write"].filter((name) => Reflect.get(options, name) !== undefined);
  if (outputs.length > 1) throw new ConfigError([`accessLog: has ${outputs.join(" and ")}: expected one of them`]);
}
