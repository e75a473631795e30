import { browserModule, moduleReply, modulesPath } from "../files/browser-module.ts";
import { requireReading } from "../server/access.ts";
import type { Plugin } from "../server/plugin.ts";

/** Serves the browser module `filement/client`, before the file handler. The option `client` adds one to a host. */
export function clientModule(): Plugin {
  return {
    name: "client-module",
    async start() {
      await browserModule("client.js");
    },
    async handle(exchange, next) {
      if (exchange.path !== `${modulesPath}client.js` || exchange.isUpgrade) return next();
      requireReading(exchange);
      return moduleReply(exchange, await browserModule("client.js"));
    },
  };
}
