import { stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { doneInTime } from "../event-loop/in-time.ts";
import type { Plugin } from "../server/plugin.ts";
import { errnoOf } from "../storage/disk/file-record.ts";

export type PluginFactory = (parameters: Readonly<Record<string, unknown>>) => Plugin | Promise<Plugin>;

/** How long a module may take to load, and then to make its plugin, in milliseconds. */
const longestMs = 10_000;

const methods = ["handle", "observe", "start", "close"];

/** Loads an ES module and has it make a plugin, each within `timeMs`. Rejects with a sentence for people. */
export async function loadModule(
  path: string,
  parameters: Readonly<Record<string, unknown>>,
  timeMs: number = longestMs,
): Promise<Plugin> {
  const tooSlow = (doing: string): string => `it took more than ${timeMs / 1000} s to ${doing}`;
  const url = await urlOf(path);
  const module: { default?: unknown } = await doneInTime(import(url), timeMs, tooSlow("load"));
  const { default: factory } = module;
  if (typeof factory !== "function") throw new Error("expected a default export that is a function");
  const made = (async () => (factory as PluginFactory)(parameters))();
  return checkPlugin(await doneInTime(made, timeMs, tooSlow("make its plugin")));
}

/** Node loads a URL once, and remembers failures as well: a file that has changed needs another one. */
async function urlOf(path: string): Promise<string> {
  const { mtimeMs, size } = await stat(path).catch((cause) => {
    const isAbsent = errnoOf(cause) === "ENOENT";
    throw new Error(isAbsent ? "the file does not exist" : `it cannot be read (${cause.message})`, { cause });
  });
  return `${pathToFileURL(path).href}?${mtimeMs}-${size}`;
}

/** A mistake keeps the server from starting here; later it would be a 500 for every request. */
function checkPlugin(made: unknown): Plugin {
  const plugin = (made ?? {}) as Record<string, unknown>;
  if (typeof plugin["name"] !== "string" || plugin["name"] === "") {
    throw new Error("expected its function to return a plugin: an object with a name");
  }
  const wrong = methods.find((method) => plugin[method] !== undefined && typeof plugin[method] !== "function");
  if (wrong) throw new Error(`expected ${wrong} of its plugin to be a function`);
  return made as Plugin;
}
