// A plugin of one's own: it answers a path, changes replies on their way back, and counts finished requests.
// Run: npm run build && node examples/custom-plugin.mjs
import { createServer } from "node:http";
import { createFileServer, jsonReply, memoryStorage } from "filement";

/**
 * Answers `GET /hits` with how often each path was asked for, and tells browsers to keep pictures for a day.
 *
 * @returns {import("filement").Plugin}
 */
function hitCounter() {
  /** @type {Map<string, number>} */
  const hits = new Map();
  return {
    name: "hit-counter",
    async handle(exchange, next) {
      if (exchange.path === "/hits") return jsonReply(200, Object.fromEntries(hits));
      const reply = await next();
      const isPicture = String(reply.headers["content-type"]).startsWith("image/");
      return isPicture ? { ...reply, headers: { ...reply.headers, "cache-control": "max-age=86400" } } : reply;
    },
    observe(exchange, outcome) {
      if (!outcome.aborted) hits.set(exchange.path, (hits.get(exchange.path) ?? 0) + 1);
    },
  };
}

const storage = memoryStorage({
  "/index.html": "<h1>Hello</h1>",
  "/dot.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
});
const server = createServer(createFileServer({ storage, plugins: [hitCounter()] }));
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
