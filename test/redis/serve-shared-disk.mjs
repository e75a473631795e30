// Run as a process of its own: node serve-shared-disk.mjs <root> <redis url>. Serves a directory as if it were alone on its machine:
// it sees the locks of other processes in Redis only. Prints where.
import { createServer } from "node:http";

Object.defineProperty(process, "platform", { value: "none" }); // that has no locks between processes
const { createFileServer, diskStorage } = await import("../../dist/index.js");
const { redisLocks } = await import("../../dist/redis/index.js");

const [, , root = "", redis = ""] = process.argv;
const locks = redisLocks(redis, { lease: 120 }); // no lock runs out because the machine is busy
const files = createFileServer({ storage: diskStorage(root, { locks }), onError: console.error });
await files.ready();
const server = createServer(files).listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
});
