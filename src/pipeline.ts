import { errorReply } from "./error-reply.ts";
import type { Exchange } from "./exchange.ts";
import type { Plugin } from "./plugin.ts";
import type { Reply } from "./reply.ts";

/** Answers an exchange. */
export type Handler = (exchange: Exchange) => Promise<Reply>;

/**
 * One function out of a list of plugins, which run in order and end in `last`. It never rejects: what a plugin throws
 * becomes a reply on the spot, so that the plugins before it see it pass like any other.
 */
export function composePipeline(plugins: readonly Plugin[], last: Handler): Handler {
  return plugins.reduceRight<Handler>((rest, plugin) => (plugin.handle ? step(plugin, rest) : rest), guarded(last));
}

function step(plugin: Plugin, rest: Handler): Handler {
  return guarded(async (exchange) => {
    let passedOn = 0;
    const reply = await plugin.handle?.(exchange, () => {
      passedOn += 1;
      return passedOn === 1 ? rest(exchange) : Promise.reject(calledTwice(plugin));
    });
    // Judged here as well: a plugin that swallows the rejection would otherwise get away with it.
    if (passedOn > 1) throw calledTwice(plugin);
    if (typeof reply?.status !== "number") throw new TypeError(`plugin "${plugin.name}" returned no reply`);
    return reply;
  });
}

function guarded(handler: Handler): Handler {
  return async (exchange) => {
    try {
      return await handler(exchange);
    } catch (error) {
      return errorReply(exchange, error);
    }
  };
}

function calledTwice(plugin: Plugin): Error {
  return new Error(`plugin "${plugin.name}" called next() more than once`);
}
