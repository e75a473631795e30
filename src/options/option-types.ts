import { serialisedOrigin } from "../http/origin.ts";
import { compilePathPattern } from "../http/path-pattern.ts";
import { isCanonicalPath } from "../http/request-target.ts";
import { expectedLocation, filePath } from "../local-files/file-path.ts";
import { messageOf } from "../server/logger.ts";
import {
  anyOf,
  integer,
  likeliest,
  number,
  type OptionsSchema,
  optionsOf,
  type Problem,
  type Schema,
  text,
  valueThat,
  withRule,
} from "./schema.ts";

export function pluginOptions(options: Readonly<Record<string, Schema>>): OptionsSchema {
  return optionsOf(options, "an object of options");
}

export function hasMethods(...names: readonly string[]): (value: unknown) => boolean {
  return (value) =>
    typeof value === "object" && value !== null && names.every((name) => isFunction(Reflect.get(value, name)));
}

export const aFunction: Schema = valueThat(isFunction, "a function");

export const positiveInteger: Schema = integer("a positive integer", (value) => value > 0);

export const textNotEmpty: Schema = text("a string", (value) => value !== "", "a string that is not empty");

const pluginMethods = [
  ...["acceptsUpgrade", "anonymousMayWrite", "close", "disconnect", "documentAt", "drain", "handle", "observe"],
  "start",
];
const pluginMembers = [...pluginMethods, "alwaysOn", "needsUser", "scope"];

export const aPlugin: Schema = {
  problemsOf(value) {
    const wrong = (expected: string): readonly Problem[] => [{ path: [], kind: "value", expected }];
    if (typeof value === "function") {
      const name = value.name || "it";
      return wrong(`a plugin: call ${name}(...), or say fromMiddleware(${name}) if it is middleware`);
    }
    const members: Readonly<Record<string, unknown>> = Object(value);
    if (value !== members || typeof members["name"] !== "string" || members["name"] === "") {
      return wrong("a plugin: an object with a name");
    }
    const noMethod = pluginMethods.find((name) => members[name] !== undefined && !isFunction(members[name]));
    if (noMethod !== undefined) return wrong(`a plugin whose ${noMethod} is a function`);
    const own = Object.entries(value).filter(([name, member]) => isFunction(member) && !pluginMembers.includes(name));
    for (const [name] of own) {
      const meant = likeliest(name, pluginMembers);
      if (meant !== undefined && !(meant in members))
        return wrong(`a plugin: has "${name}" (did you mean "${meant}"?)`);
    }
    return [];
  },
};

/** Seconds for a timer, which waits 24 days at most. */
export const timerSeconds: Schema = number(
  "a positive number of seconds, a million at most",
  (seconds) => seconds > 0 && seconds <= 1_000_000,
);

export const secondsOrNone: Schema = number("a number of seconds, 0 or more", (seconds) => seconds >= 0);

export const requestPath: Schema = text(
  "a path",
  isCanonicalPath,
  "a path as requests have it: decoded, and from the root",
);

/** A rule about texts: what `compile` says that it expected in place of one that it does not take. */
export function expectedBy(compile: (text: string) => unknown): (text: string) => string | undefined {
  return (text) => {
    try {
      compile(text);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
}

export const pathPattern: Schema = withRule(text('a path such as "/docs/*"'), expectedBy(compilePathPattern));

/** No page has such an origin: patterns do not count, and pages do not come by these schemes. */
const neverSent = /\*|^(?:about|blob|data|file|ftp|javascript|wss?):/;

/** An origin to be compared with the field `Origin`. */
export const origin: Schema = text(
  "an origin",
  (value) => serialisedOrigin(value) === value && !neverSent.test(value),
  "an origin as browsers send it, such as https://admin.example",
);

export const redisUrl: Schema = text(
  "the URL of a Redis",
  (value) => /^rediss?:\/\/[^/]/.test(value) && URL.canParse(value),
  "the URL of a Redis, such as redis://localhost:6379",
);

export const sharedFeed: Schema = anyOf(
  [redisUrl, valueThat(hasMethods("start", "send", "close"), "")],
  "what redisFeed gives, or the URL of a Redis, such as redis://localhost:6379",
);

export const sharedLocks: Schema = anyOf(
  [redisUrl, valueThat(hasMethods("acquire", "tryAcquire"), "")],
  "what redisLocks gives, or the URL of a Redis, such as redis://localhost:6379",
);

export const fileLocation: Schema = valueThat(
  (value) => (typeof value === "string" || value instanceof URL) && filePath(String(value)) !== undefined,
  expectedLocation,
);

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}
