import type { Plugin } from "../../src/server/plugin.ts";

/** A plugin that keeps requests for `/slow` until they are released, and says when one has come. */
export function gate(): { plugin: Plugin; entered: Promise<void>; release: () => void } {
  let enter: () => void = () => {};
  let release: () => void = () => {};
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const plugin: Plugin = {
    name: "gate",
    async handle(exchange, next) {
      if (exchange.path !== "/slow") return next();
      enter();
      await released;
      return { status: 200, headers: {}, body: "at last" };
    },
  };
  return { plugin, entered, release };
}
