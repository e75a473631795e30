// A file server that is watched: probes at /health, and numbers for Prometheus at /metrics.
// Run: npm run build && node examples/metrics-and-health.mjs
import { access } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileServer, healthCheck, metrics } from "filement";

const root = process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url));
const files = createFileServer({
  root,
  plugins: [
    healthCheck({
      // Besides the check of the storage: without its front page this site is of no use to anybody.
      checks: { frontPage: () => access(join(root, "index.html")) },
    }),
    metrics(), // open to everyone who reaches this port; docs/plugins/metrics.md tells how to close it
  ],
  onError: (error) => console.error(error),
});
const server = createServer();
files.attach(server);

await files.ready();
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});

process.once("SIGTERM", async () => {
  await files.close(); // probes are told "closing" until the last request is answered
  server.close();
});
