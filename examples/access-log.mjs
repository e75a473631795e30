// An access log in a file that log rotation may rename: SIGHUP has it opened anew.
// Run: npm run build && LOG=/tmp/access.log node examples/access-log.mjs
// Try: mv /tmp/access.log /tmp/access.log.1 && kill -HUP <the process id that it prints>
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { accessLog, createFileServer } from "filement";

const root = process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url));
const log = accessLog({ file: process.env["LOG"] ?? join(tmpdir(), "access.log") }); // not below the root
const files = createFileServer({ root, plugins: [log] });
const server = createServer();
files.attach(server);

process.on("SIGHUP", async () => {
  await log.reopen();
  console.log(`opened anew, ${log.dropped} lines lost so far`);
});

await files.ready();
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
  console.log(`process ${process.pid}`);
});

process.once("SIGTERM", async () => {
  server.close();
  await files.close(); // writes the lines that are still queued
});
