// Run as a process of its own, with an IPC channel and --expose-gc: node server.mjs <root> <log file> <users as JSON>.
// Serves the root with everything switched on. Answers "sample" with its memory and descriptors once no connection is open,
// and ends when its parent says "close" or is gone.
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { createServer } from "node:http";
import {
  accessLog,
  basicAuth,
  createFileServer,
  eventStream,
  healthCheck,
  metrics,
  rateLimit,
  webSocket,
} from "../../dist/index.js";

const [, , root = "", file = "", users = "[]"] = process.argv;
let errors = 0;

const files = createFileServer({
  root,
  watch: true,
  client: true,
  untrustedContent: true,
  maxFileSize: 512 * 1024,
  documentCacheSize: 8 * 1024 ** 2,
  elementBodyMemory: 16 * 1024 ** 2,
  maxParseSteps: 500_000,
  onError: (/** @type {unknown} */ error) => {
    errors += 1;
    console.error(error);
  },
  plugins: [
    accessLog({ file, format: "combined" }),
    healthCheck(),
    rateLimit({ requestsPerSecond: 100_000 }),
    basicAuth({
      users: JSON.parse(users),
      rules: [
        { role: "worker", path: "/*", rights: ["read", "list"], permission: "allow" },
        { username: ":username", path: "/:username/*", permission: "allow" },
        { role: "worker", path: "/shared.html", permission: "allow" },
        { role: "worker", path: "/secrets.html", selector: ".secret", permission: "deny" },
      ],
    }),
    metrics(),
    webSocket(),
    eventStream(),
  ],
});
await files.ready();

/** Characters of HTML in each change, of as many as the server remembers: what they take is no growth. @type {number[]} */
const remembered = [];
const mostRemembered = 2000;
void (async () => {
  for await (const change of files.changes) {
    const { html = "", removed = "" } = /** @type {{ html?: string, removed?: string }} */ (change);
    remembered.push(html.length + removed.length);
    if (remembered.length > mostRemembered) remembered.shift();
  }
})();

const server = createServer();
files.attach(server);
// The load decides when a connection ends: one that the server closes as idle may cross with the next request.
server.keepAliveTimeout = 0;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : 0 });
});

process.on("disconnect", () => process.exit(1));
process.on("message", async (message) => {
  if (message === "sample") process.send?.(await sample());
  if (message === "close") {
    server.close();
    await files.close();
    process.exit(errors > 0 ? 1 : 0);
  }
});

/** Of a change without its HTML: its fields, path and date. */
const bytesOfChange = 700;

async function sample() {
  while ((await connections()) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  for (let again = 0; again < 3; again += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  const { heapUsed, rss } = process.memoryUsage();
  const history = remembered.reduce((sum, length) => sum + length + bytesOfChange, 0);
  return { heap: heapUsed - history, history, rss, descriptors: descriptors(), errors };
}

/** @returns {Promise<number>} */
function connections() {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

/** What each open descriptor leads to; nothing where the system does not tell. */
function descriptors() {
  if (!existsSync("/proc/self/fd")) return [];
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`).replace(/\d+/g, "N")];
    } catch {
      return []; // that of the directory of descriptors itself
    }
  });
}
