import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Listens on a free port of the loopback interface, and answers what the process asks that started this one: to make a
 * change, and how much there is on the heap. Ends with that process.
 *
 * @param {import("node:http").Server} server
 * @param {(html: string) => Promise<bigint>} change Makes a change and resolves to when that was.
 */
export function answerCommands(server, change) {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  process.on("message", async (/** @type {{ change?: string, at?: string }} */ command) => {
    if (command.change === undefined) {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      process.send?.({ bytes: heapUsed + external });
    } else process.send?.({ at: String(await change(command.change)) });
  });
  process.once("disconnect", () => process.exit());
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, () => process.send?.(server.address()));
}
