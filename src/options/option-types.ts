import { z } from "zod";
import { isCanonicalPath } from "../http/request-path.ts";
import { expectedLocation, filePath } from "../local-files/file-path.ts";
import type { Plugin } from "../server/plugin.ts";

/** The schema of options, none of which has to be given. */
type PluginOptions<Shape extends z.ZodRawShape> = z.ZodObject<
  { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> },
  z.core.$strict
>;

/** The options of a plugin, none of which has to be given. */
export function pluginOptions<Shape extends z.ZodRawShape>(shape: Shape): PluginOptions<Shape> {
  return z.strictObject(shape, "an object of options").partial();
}

export function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/** As a check: an object with these methods. */
export function hasMethods(...names: readonly string[]): (value: unknown) => boolean {
  return (value) =>
    typeof value === "object" && value !== null && names.every((name) => isFunction(Reflect.get(value, name)));
}

export const aFunction: z.ZodType = z.custom(isFunction, "a function");

export const yesOrNo: z.ZodType<boolean> = z.boolean("true or false");

export const positiveInteger: z.ZodType<number> = z.int("a positive integer").positive("a positive integer");

export const aPlugin: z.ZodCustom<Plugin, Plugin> = z.custom<Plugin>(
  (value) => typeof value === "object" && value !== null && typeof Reflect.get(value, "name") === "string",
  "a plugin: an object with a name",
);

const seconds = "a positive number of seconds, a million at most";
/** Seconds for a timer, which waits 24 days at most. */
export const timerSeconds: z.ZodType<number> = z.number(seconds).positive(seconds).max(1_000_000, seconds);

/** A path that a request can have. */
export const requestPath: z.ZodType<string> = z
  .string("a path")
  .refine(isCanonicalPath, "a path as requests have it: decoded, and from the root");

/** A file on the disk: a path, or a `file://` location. */
export const fileLocation: z.ZodType = z.custom(
  (value) => (typeof value === "string" || value instanceof URL) && filePath(String(value)) !== undefined,
  expectedLocation,
);
