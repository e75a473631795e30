// A quota: each client may send 1 MB. What is on its way counts, also in chunks whose length no field announces.
// Run: npm run build && node examples/quota.mjs
// Try: curl -T README.md -H "Transfer-Encoding: chunked" http://127.0.0.1:3000/readme.txt
import { createServer } from "node:http";
import { createFileServer, HttpError, memoryStorage } from "filement";

/**
 * @param {{ maxBytes: number, maxFileSize: number }} options
 * @returns {import("filement").Plugin}
 */
function quota({ maxBytes, maxFileSize }) {
  /** What each client has sent, and may still send in requests under way. @type {Map<string, number>} */
  const used = new Map();
  /** @type {WeakMap<object, number>} */
  const reserved = new WeakMap();
  return {
    name: "quota",
    handle(exchange, next) {
      const { method, address } = exchange;
      if (!["PUT", "POST", "PATCH"].includes(method)) return next();
      const length = Number(exchange.header("content-length") ?? maxFileSize); // of chunks the most that a file may be
      const before = used.get(address) ?? 0;
      if (before + length > maxBytes)
        throw new HttpError(413, "QUOTA_EXCEEDED", `There are ${maxBytes - before} bytes left.`);
      used.set(address, before + length);
      reserved.set(exchange, length);
      return next();
    },
    observe(exchange, { status, received }) {
      const length = reserved.get(exchange);
      if (length === undefined) return;
      used.set(exchange.address, (used.get(exchange.address) ?? 0) - length + (status < 300 ? received : 0));
    },
  };
}

const maxFileSize = 400_000;
const plugins = [quota({ maxBytes: 1_000_000, maxFileSize })];
const files = createFileServer({ storage: memoryStorage(), maxFileSize, plugins });
const server = createServer(files);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
