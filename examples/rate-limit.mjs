// Two limits: everybody may read at a moderate rate, and what changes files is limited more strictly.
// Run: npm run build && node examples/rate-limit.mjs
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createFileServer, rateLimit } from "filement";

const root = process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url));
const reads = new Set(["GET", "HEAD", "OPTIONS"]);

const files = createFileServer({
  root,
  plugins: [
    rateLimit({ requestsPerSecond: 5, burstCapacity: 50, standardHeaders: true }),
    rateLimit({
      requestsPerSecond: 0.2, // one in five seconds
      burstCapacity: 3,
      keyStrategy: ({ method, address }) => (reads.has(method) ? undefined : address),
    }),
  ],
  logger: {
    debug() {},
    info: (fields, message) => console.log(message, JSON.stringify(fields)),
    warn: (fields, message) => console.warn(message, fields),
    error: (fields, message) => console.error(message, fields),
  },
});

const server = createServer();
files.attach(server);
await files.ready();
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
