// Preloaded into a program that listens on port 3000, as documentation does: has it listen on a free port instead, and
// prints `listening on port <number>`.
import { Server } from "node:net";

const { listen } = Server.prototype;

/** @this {Server} @param {any[]} args */
function listenOnFreePort(...args) {
  const [first] = args;
  const isDocumented = first === 3000 || first?.port === 3000;
  if (isDocumented) {
    args[0] = typeof first === "object" ? { ...first, port: 0 } : 0;
    this.once("listening", () => {
      const address = this.address();
      console.log(`listening on port ${typeof address === "object" ? address?.port : address}`);
    });
  }
  return Reflect.apply(listen, this, args);
}

Server.prototype.listen = listenOnFreePort;
