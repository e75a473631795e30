// Run as a process of its own: node serve-shared-feed.mjs <root> <redis url>. Serves a directory whose changes it shares with other
// such processes, with times in which a test can wait for a gap. Prints where.
import { createServer } from "node:http";
import { createFileServer, webSocket } from "../../build/index.js";
import { RedisFeed } from "../../build/redis/feed.js";

const [, , root = "", redis = ""] = process.argv;
const feed = new RedisFeed(redis, {}, { patience: 500, block: 200, lease: 1_500 });
const files = createFileServer({ root, feed, plugins: [webSocket()], durability: "rename", onError: () => {} });
const server = createServer();
files.attach(server);
await files.ready();
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
});
