import type { Plugin } from "../../src/server/plugin.ts";
import { deferred } from "./deferred.ts";

/** A plugin that keeps requests for a path until they are released, says when one has come, and then answers or passes it on. */
export function gate({ path = "/slow", passesOn = false } = {}): {
  plugin: Plugin;
  entered: Promise<void>;
  release: () => void;
} {
  const { promise: entered, resolve: enter } = deferred();
  const { promise: released, resolve: release } = deferred();
  const plugin: Plugin = {
    name: "gate",
    async handle(exchange, next) {
      if (exchange.path !== path) return next();
      enter();
      await released;
      return passesOn ? next() : { status: 200, headers: {}, body: "at last" };
    },
  };
  return { plugin, entered, release };
}
