import { isUint8Array } from "node:util/types";
import { errorReply } from "./error-reply.ts";
import type { Exchange } from "./exchange.ts";
import type { Plugin, Scope } from "./plugin.ts";
import { discard, isStream, type Reply } from "./reply.ts";

export type Handler = (exchange: Exchange) => Promise<Reply>;

/** Called where a plugin answers by itself, with its reply. */
export type OnAnswer = (plugin: Plugin, exchange: Exchange, reply: Reply) => void;

/** Runs plugins in order, and `last`. What one throws becomes a reply on the spot, which those before it see pass. */
export function composePipeline(
  plugins: readonly ListedPlugin[],
  last: Handler,
  onAnswer: OnAnswer = () => {},
): Handler {
  return plugins.reduceRight<Handler>(
    (rest, listed) => {
      if (!listed.plugin.handle) return rest;
      const inside = step(listed.plugin, rest, onAnswer);
      if (isEverywhere(listed)) return inside;
      return (exchange) => (listed.covers(exchange.path) ? inside(exchange) : rest(exchange));
    },
    step({ name: "the last", handle: last }, last, () => {}),
  );
}

function step(plugin: Plugin, rest: Handler, onAnswer: OnAnswer): Handler {
  return async (exchange) => {
    let passedOn = 0;
    try {
      const returned: unknown = await plugin.handle?.(exchange, () => {
        passedOn += 1;
        return passedOn === 1 ? rest(exchange) : Promise.reject(calledTwice(plugin));
      });
      // Judged here as well: a plugin that swallows the rejection would otherwise get away with it.
      if (passedOn > 1) throw calledTwice(plugin);
      const reply = checkReply(plugin, returned);
      const { body } = reply;
      // A plugin before it may drop the reply and answer something else: what it holds open is released at the end.
      if (isStream(body)) exchange.defer(() => discard(body));
      if (passedOn === 0) onAnswer(plugin, exchange, reply);
      return reply;
    } catch (error) {
      const reply = errorReply(exchange, error);
      if (passedOn === 0) onAnswer(plugin, exchange, reply);
      return reply;
    }
  };
}

/** What comes from a plugin may be anything; found out here, the error can name the plugin. */
function checkReply(plugin: Plugin, returned: unknown): Reply {
  const reply = (returned ?? {}) as Partial<Reply>;
  const { status, headers, body, accept } = reply;
  if (typeof status !== "number" || typeof headers !== "object" || headers === null) {
    throw new TypeError(`plugin "${plugin.name}" returned no reply`);
  }
  if (!accept && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
    throw new TypeError(`plugin "${plugin.name}" returned status ${status}: expected 200 to 599`);
  }
  const isWhole = body === undefined || typeof body === "string" || isUint8Array(body);
  if (!isWhole && typeof body?.pipe !== "function") {
    throw new TypeError(`plugin "${plugin.name}" returned content that is neither text, bytes nor a stream`);
  }
  if (typeof body === "string" && (headers["content-encoding"] ?? "identity") !== "identity") {
    const coding = headers["content-encoding"];
    throw new TypeError(`plugin "${plugin.name}" returned plain text as ${coding}: expected withBody(reply, text)`);
  }
  return reply as Reply;
}

function calledTwice(plugin: Plugin): Error {
  return new Error(`plugin "${plugin.name}" called next() more than once`);
}

/** A plugin at its place in the pipeline of a host. */
export interface ListedPlugin {
  readonly plugin: Plugin;
  covers(path: string): boolean;
  readonly part: Part;
}

/** The paths at and below a directory such as `/a/b`, `""` for all; `undefined` where only a plugin knows them. */
export type Part = string | undefined;

type Place = Omit<ListedPlugin, "plugin">;

const everywhere: Place["covers"] = () => true;

/** A host's plugins in the order of the pipeline, nested ones among them, each with the paths it is confined to. */
export function listPlugins(
  plugins: readonly Plugin[],
  outer: Place = { covers: everywhere, part: "" },
): readonly ListedPlugin[] {
  const listed: ListedPlugin[] = [];
  let following = outer;
  for (const plugin of plugins) {
    const { scope, confinedTo } = plugin;
    const place = scope ? outer : following;
    listed.push({ plugin, ...(confinedTo ? narrowed(place, confinedTo) : place) });
    if (!scope) continue;
    const inside = narrowed(outer, scope);
    if (scope.plugins) listed.push(...listPlugins(scope.plugins, inside));
    following = scope.plugins ? outer : inside;
  }
  return listed;
}

function narrowed(outer: Place, { covers, directory }: Scope): Place {
  const isSmaller = directory !== undefined && isWithin(directory, outer.part);
  return {
    covers: (path) => outer.covers(path) && covers(path),
    part: isSmaller ? directory : directory && outer.part,
  };
}

/** Whether one part lies in another. What only a plugin knows may be anywhere. */
export function isWithin(inner: Part, outer: Part): boolean {
  if (outer === "") return true;
  if (inner === undefined || outer === undefined) return false;
  return inner === outer || inner.startsWith(`${outer}/`);
}

/** Each plugin once, where it stands first; listed twice, it applies to the paths of both places. */
export function distinctPlugins(listed: readonly ListedPlugin[]): readonly ListedPlugin[] {
  const places = new Map<Plugin, ListedPlugin>();
  for (const each of listed) {
    const { plugin, covers } = each;
    const before = places.get(plugin);
    const covered = (path: string): boolean => before?.covers(path) || covers(path);
    places.set(plugin, before ? { plugin, covers: covered, part: undefined } : each);
  }
  return [...places.values()];
}

export function isEverywhere({ covers }: ListedPlugin): boolean {
  return covers === everywhere;
}
