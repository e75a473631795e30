import { createServer } from "node:http";

/**
 * Serves on a free port of the loopback interface, tells it to the process that started this one, and ends with that.
 *
 * @param {import("node:http").RequestListener} handler
 */
export function listen(handler) {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
  process.once("disconnect", () => process.exit());
}
