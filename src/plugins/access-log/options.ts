import { ConfigError } from "../../config.ts";
import { checkOptions } from "../../options/check-config.ts";
import { aFunction, fileLocation, hasMethods, pluginOptions } from "../../options/option-types.ts";
import { anyOf, type OptionsSchema, oneOf, valueThat } from "../../options/schema.ts";

/** What the options of `accessLog` are checked against. */
export const accessLogOptions: OptionsSchema = pluginOptions({
  format: anyOf([oneOf(["common", "combined", "json"]), aFunction], '"common", "combined", "json" or a function'),
  file: fileLocation,
  stream: valueThat(hasMethods("write", "on", "off"), "a stream to write to"),
  write: aFunction,
});

/** Throws a `ConfigError` that names everything that is wrong. */
export function checkAccessLogOptions(options: object): void {
  checkOptions("accessLog", accessLogOptions, options);
  const outputs = ["file", "stream", "write"].filter((name) => Reflect.get(options, name) !== undefined);
  if (outputs.length > 1) throw new ConfigError([`accessLog: has ${outputs.join(" and ")}: expected one of them`]);
}
