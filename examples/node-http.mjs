// The shortest server: node:http, one directory, everything Filement can do with it.
// Run: npm run build && node examples/node-http.mjs
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createFileServer } from "filement";

const root = process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url));
const files = createFileServer({ root });
const server = createServer();
files.attach(server); // requests, upgrades, and `Expect: 100-continue`

files.changes.subscribe(({ kind, path, selector }) => {
  console.log(selector === undefined ? `${kind} ${path}` : `${kind} ${path} ${selector}`);
});

await files.ready(); // a missing directory or a plugin that cannot start shows here, not at the first request
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});

process.once("SIGTERM", async () => {
  server.close();
  await files.close(); // what is in flight finishes first
});
